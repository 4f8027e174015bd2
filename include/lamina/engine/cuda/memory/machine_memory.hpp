// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/memory/machine_memory.hpp - allocates the arrays of a machine in device
// memory, and sets the address of every argument of its schedule.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <lamina/engine/cuda/device/device_buffer.hpp>
#include <lamina/engine/cuda/memory/block_memory.hpp>
#include <lamina/engine/cuda/memory/device_scalars.hpp>
#include <lamina/engine/cuda/memory/fed_data.hpp>
#include <lamina/engine/cuda/memory/fetched_variables.hpp>
#include <lamina/engine/cuda/memory/fixed_memory.hpp>
#include <lamina/engine/cuda/memory/selected_rows.cuh>
#include <lamina/engine/cuda/schedule/index_range_check.hpp>
#include <lamina/engine/cuda/schedule/schedule_table.hpp>
#include <lamina/plan/external_buffers.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// The device memory of one machine. Constants, the seed and variables with a fixed address share
/// one allocation that lives as long as the machine. Fed data have a second allocation, and arrays
/// with rows a third, the arena. Both are reallocated only when the number of rows grows.
template <class P, class Backend>
class machine_memory {
 public:
  using schedule = schedule_table<P, Backend>;
  using plan_type = typename schedule::plan_type;
  static constexpr int data_count = counts_of<P>.data;
  static constexpr int domains = counts_of<P>.domains;
  static constexpr bool has_blocks = schedule::has_blocks;
  static constexpr bool selects_rows = plan_type::memory.selected_rows > 0;

  LAMINA_COLD machine_memory(Backend& b, const external_buffers& external)
      : backend_(b),
        external_(external),
        fixed_(b),
        arena_(b),
        more_scratch_(b),
        numbers_(b),
        fed_(b),
        fetched_(b),
        blocks_(b),
        selected_(b) {
    // Sets the addresses of sparse gradients already here, because the scratch size of a group may
    // read their numbers of rows.
    if constexpr (selects_rows)
      for (int a = 0; a < schedule::arguments; ++a)
        if (schedule::table.slot_of[a].space == memory_space::rows)
          arguments_[a] = address_of(schedule::table.slot_of[a]);
  }

  const int* rows() const { return rows_; }
  int* rows() { return rows_; }
  float* const* arguments() const { return arguments_; }
  float** arguments() { return arguments_; }
  void set_first_rows(const std::int64_t* first) { std::copy_n(first, domains, first_row_); }
  const std::int64_t* first_rows() const { return first_row_; }

  float* scratch() const {
    return more_scratch_.data() == nullptr ? in_arena(scratch_at_)
                                           : reinterpret_cast<float*>(more_scratch_.data());
  }

  run_context state() {
    reader_ = {this,
               [](void* m, void* to, const void* from, std::size_t n) {
                 of(m).numbers_.read(to, from, n);
               },
               [](void* m, void* to, const void* from, std::size_t n) {
                 if constexpr (has_blocks) of(m).blocks_.copy_to_device(to, from, n);
               },
               [](void* m, int domain) {
                 if constexpr (has_blocks) of(m).send_offsets(domain);
               },
               [](void* m, const void* at) -> std::int64_t& { return of(m).numbers_.count(at); }};
    return {rows_,     offsets_, first_row_, fixed_.seed(), fixed_.fault(),
            scratch(), nullptr,  &reader_,   host_offsets_};
  }
  /// Returns the call of group g: its arguments and the data of the run.
  call_context site(int g, const run_context& state) const {
    const auto& e = schedule::table.entries[g];
    return {schedule::program,
            arguments_ + e.first_argument,
            schedule::table.info + e.first_argument,
            e.group,
            state,
            g,
            on_host(e.first_argument)};
  }
  /// Returns the floats of scratch memory that a run needs: the maximum over all groups, because
  /// groups run one after the other and share the memory.
  std::ptrdiff_t needed_scratch(const int* rows) const {
    const run_context at{rows, offsets_, first_row_, nullptr, nullptr, nullptr};
    std::ptrdiff_t most = 0;
    for (int g = 0; g < schedule::groups; ++g)
      if (const auto needs = schedule::table.entries[g].scratch; needs != nullptr)
        most = (std::max)(most, needs(site(g, at)));
    return most;
  }
  /// Sets the number of rows and the host sequence offsets (or null) of each fed domain. Returns
  /// whether bind() must assign the addresses of all arguments again.
  bool set_rows(const int* rows, const int* const* offsets) {
    bool same = fits_;
    for (int d = batch::domain; d < domains; ++d) {
      if (!layout.fed[d]) continue;
      same = same && rows[d] == rows_[d];
      rows_[d] = rows[d];
      host_offsets_[d] = offsets[d];
    }
    return !same;
  }
  /// Assigns memory to every array, for the numbers of rows that set_rows() set.
  void bind() {
    fits_ = false;
    index_range_.require(layout.fed, rows_);
    // The scratch size is computed before memory is assigned; it depends only on the numbers of
    // rows.
    bool moved = select_rows();
    const std::ptrdiff_t scratch = needed_scratch(rows_);
    std::size_t end = 0;
    for (int d = batch::domain; d < domains; ++d) {
      const int rows = layout.fed[d] ? rows_[d] : 0;
      fixed_.constants()[inverse_rows(d)] = rows > 0 ? 1.0f / static_cast<float>(rows) : 0.0f;
    }
    for (int d = batch::domain; d < domains; ++d) {
      if (!layout.fed[d]) continue;
      arena_at_[d] = end;
      end += aligned(static_cast<std::size_t>(layout.width[d]) *
                     static_cast<std::size_t>(rows_[d]) * sizeof(float));
    }
    scratch_at_ = end;
    end += aligned(static_cast<std::size_t>(scratch) * sizeof(float));
    const planned_memory planned(backend_, fixed_.bytes_on_device() + fed_.bind(rows_) + end);
    // Drops the captured graphs if memory has moved, because they contain old addresses.
    moved = fed_.reserve() || moved;
    if (arena_.reserve(end) || moved) backend_.forget();
    // Once more_scratch_ is allocated, all groups use it instead of the scratch memory in the
    // arena, so it must also grow with the fed rows.
    if constexpr (has_blocks)
      if ((more_scratch_.data() != nullptr || moves_) && reserve_more_scratch()) backend_.forget();
    set_addresses();
    fed_.place(arguments_, offsets_);
    bound_ = fits_ = true, moves_ = false;
  }
  void feed(int data, const void* values) { feeds_[data] = values; }
  /// The device address of data variable `data` of the mini-batch.
  const void* fed_data(int data) const { return fed_.address(data); }
  /// Assigns memory again during a run, after the caller has changed the rows of fed domains by
  /// rows(). The contents of the arena are lost.
  void bind_rows() {
    backend_.wait();  // so no kernel still reads memory that moves
    bind();
    for (int d = batch::domain; d < domains; ++d)
      if (layout.fed[d]) send_inverse_rows(d);
  }
  /// Copies a mini-batch that was bound and fed during a run to the device. The device must be
  /// idle.
  void take_minibatch() {
    fed_.gather(~0ull, rows_, feeds_, host_offsets_);
    fed_.set_offsets(offsets_);
    fed_.upload();
    if constexpr (has_blocks) blocks_.begin_run();
    for (int d = batch::domain; d < domains; ++d)
      if (layout.fed[d]) send_inverse_rows(d);
  }

  void begin_run(std::uint64_t seed) {
    numbers_.begin_run();
    if constexpr (has_blocks) blocks_.begin_run();
    fixed_.begin_run(seed);
  }
  /// Writes the data and the seed to the host memory from which upload() copies them to the device.
  void stage(unsigned long long given, std::uint64_t seed) {
    begin_run(seed);
    fed_.gather(given, rows_, feeds_, host_offsets_);
    if constexpr (has_blocks) fed_.set_offsets(offsets_);
  }
  void upload() {
    fixed_.upload();
    fed_.upload();
  }
  device_tensor_array<Backend>& array(int i) { return blocks_.array(i); }
  auto& blocks() { return blocks_; }
  Backend& backend() { return backend_; }
  const int** host_offsets() { return host_offsets_; }
  run_context context(std::uint64_t, std::uint64_t, const row_allocator* allocator) {
    run_context s = state();
    s.allocator = allocator;
    return s;
  }
  /// Sets the number of rows of a domain that is not fed. Allocates memory only if it exceeds the
  /// capacity for rows of this domain.
  void make_rows(int domain, int rows) {
    index_range_.require(domain, rows);
    const planned_memory planned(backend_, fixed_.bytes_on_device() + arena_.size());
    rows_[domain] = rows;
    if (host_table<P, Backend>::table.divides[domain]) send_inverse_rows(domain);
    if (blocks_.grow(domain, rows, layout.width[domain])) moves_ = true;
    select_rows();
    if (moves_) backend_.forget(), set_addresses(), reserve_more_scratch(), moves_ = false;
  }
  /// Host memory for the sequence offsets of a domain that is not fed.
  int* make_offsets(int domain, int sequences) {
    int* const made = blocks_.make_offsets(domain, sequences);
    host_offsets_[domain] = made;
    return made;
  }
  /// Copies the sequence offsets of a domain from the host to the device.
  void send_offsets(int domain) {
    const std::size_t bytes =
        static_cast<std::size_t>(rows_[schedule::program.domains[domain].parent] + 1) * sizeof(int);
    int* const to = blocks_.offsets_on_device(domain, bytes);
    offsets_[domain] = to;
    blocks_.copy_to_device(to, host_offsets_[domain], bytes);
  }
  bool is_true(int argument) {
    const float* const here = blocks_.on_host()[argument];
    if (here != nullptr) return *reinterpret_cast<const bool*>(here);
    bool found = false;
    numbers_.read(&found, arguments_[argument], sizeof(found));
    return found;
  }

  /// The memory of constants, seed, fault word and variables with a fixed address.
  auto& fixed() { return fixed_; }

  /// Copies a variable to the host, in the same layout as on the device. Returns the address of the
  /// copy.
  LAMINA_COLD float* fetch(const variable_layout& v) {
    if (float* const found = fixed_.result(v.slot, bytes_of(v))) return found;
    const float* const from = address_of(v.slot);
    return from == nullptr ? nullptr : fetched_.fetch(v.slot, from, bytes_of(v));
  }
  /// Copies a variable that fetch() returned, and the caller may have changed, back to the device.
  LAMINA_COLD void store(const variable_layout& v) {
    const std::size_t bytes = bytes_of(v);
    fetched_.store(v.slot, fixed_.result(v.slot, bytes), address_of(v.slot), bytes);
  }

  /// The n-th sparse gradient.
  const selected_rows& rows_gradient(int n) const requires(selects_rows) {
    return selected_.rows(n);
  }

  float* address_of(memory_slot s) const {
    switch (s.space) {
      case memory_space::rows:
        if constexpr (selects_rows)
          return const_cast<float*>(reinterpret_cast<const float*>(&selected_.rows(s.offset)));
        return nullptr;
      case memory_space::arena:
        if constexpr (has_blocks)
          if (!layout.fed[s.domain])
            return blocks_.begin(s.domain) == nullptr
                       ? nowhere()
                       : blocks_.begin(s.domain) +
                             static_cast<std::ptrdiff_t>(s.offset) * blocks_.capacity(s.domain);
        return in_arena(arena_at_[s.domain]) +
               static_cast<std::ptrdiff_t>(s.offset) * rows_[s.domain];
      case memory_space::array:
        if constexpr (has_blocks)
          return const_cast<float*>(
              reinterpret_cast<const float*>(blocks_.array_address(s.offset)));
        return nullptr;
      case memory_space::frame:
      case memory_space::view:
        return nowhere();
      case memory_space::fixed:
        return fixed_.variables() + s.offset;
      case memory_space::parameter:
      case memory_space::accumulator:
      case memory_space::gradient:
      case memory_space::updated:
        return external_.address_of(s);
      case memory_space::numbers:
        return external_.leaves_updates ? nullptr : fixed_.constant(s.offset);
      case memory_space::feed:
        return fed_.address(s.offset);
      case memory_space::none:
        return s.offset >= 0 ? fixed_.constant(s.offset) : nullptr;
      default:
        return nullptr;
    }
  }

 private:
  static machine_memory& of(void* self) { return *static_cast<machine_memory*>(self); }
  /// Computes for each domain the number of rows for which memory is reserved: the fed rows, or the
  /// capacity for rows that operators make.
  void find_capacities(int* most) const {
    for (int d = 0; d < domains; ++d) {
      most[d] = rows_[d];
      if constexpr (has_blocks)
        if (!layout.fed[d]) most[d] = blocks_.capacity(d);
    }
  }
  /// Reserves scratch memory for the rows of find_capacities(). Returns whether it has moved.
  bool reserve_more_scratch() {
    int most[bound(domains)];
    find_capacities(most);
    return more_scratch_.reserve(static_cast<std::size_t>(needed_scratch(most)) * sizeof(float));
  }
  bool select_rows() {  // reserves memory for sparse gradients; returns whether it has moved
    if constexpr (selects_rows) {
      int most[bound(domains)];
      find_capacities(most);
      return selected_.bind(rows_, most);
    }
    return false;
  }
  static constexpr std::size_t aligned(std::size_t n) { return data_range<P>::aligned(n); }
  static constexpr auto layout = find_domain_sizes<plan_type>();

  float* const* on_host(int first) const {
    if constexpr (has_blocks)
      return blocks_.on_host() + first;
    else
      return nullptr;
  }
  void set_addresses() {
    for (int a = 0; a < schedule::arguments; ++a) {
      const memory_space space = schedule::table.slot_of[a].space;
      if (!bound_ || (space != memory_space::frame && space != memory_space::view))
        arguments_[a] = address_of(schedule::table.slot_of[a]);
    }
  }
  void send_inverse_rows(int domain) {
    const int rows = rows_[domain];
    backend_.template elements<detail::fill_body>({fixed_.constant(inverse_rows(domain)), 1,
                                                   divider(1), dtype::float32,
                                                   rows > 0 ? 1.0 / rows : 0.0, 1});
  }
  std::size_t bytes_of(const variable_layout& v) const {
    return static_cast<std::size_t>(operator_call::rows_of(rows_, v.rows)) *
           static_cast<std::size_t>(v.stride) * static_cast<std::size_t>(size_of(v.type));
  }
  // A dummy address for arrays that have no memory because they have no rows yet. A null pointer
  // would mean that the argument is absent.
  float* nowhere() const { return fixed_.constant(0); }
  float* in_arena(std::size_t offset) const {
    return reinterpret_cast<float*>(arena_.data() + offset);
  }

  Backend& backend_;
  external_buffers external_;
  fixed_memory<P, Backend> fixed_;
  device_buffer<Backend> arena_, more_scratch_;
  device_scalars<Backend> numbers_;
  cuda::fed_data<P, schedule, Backend> fed_;
  fetched_variables<Backend> fetched_;
  const void* feeds_[bound(data_count)] = {};
  std::size_t arena_at_[bound(domains)] = {};
  std::size_t scratch_at_ = 0;
  float* arguments_[bound(schedule::arguments)] = {};
  int rows_[bound(domains)] = {};
  std::int64_t first_row_[bound(domains)] = {};
  const int* host_offsets_[bound(domains)] = {};
  const int* offsets_[bound(domains)] = {};
  device_reader reader_{};
  [[no_unique_address]] std::conditional_t<has_blocks, block_memory<P, Backend>,
                                           detail::no_block_memory>
      blocks_;
  [[no_unique_address]] std::conditional_t<selects_rows, selected_rows_memory<P, Backend>,
                                           no_selected_rows>
      selected_;
  index_range_check<schedule, domains> index_range_;
  bool bound_ = false;  // whether the addresses of all arguments have been set once
  // These flags let the next run recover from a failed allocation. fits_: there is memory for the
  // rows that were set. moves_: the rows that operators make are moving to a new allocation, and
  // the addresses of arguments have not been updated yet.
  bool fits_ = false, moves_ = false;
};

}}}  // namespace lamina::engine::cuda
