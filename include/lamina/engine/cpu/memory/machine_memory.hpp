// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/memory/machine_memory.hpp - the arrays of a machine, and the arguments of its
// kernels.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <lamina/core/arrays/owned_array.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/engine/cpu/conv/filter_memory.hpp>
#include <lamina/engine/cpu/memory/selected_rows.hpp>
#include <lamina/engine/cpu/schedule/group_check.hpp>
#include <lamina/engine/cpu/schedule/schedule_table.hpp>
#include <lamina/plan/external_buffers.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// Owns the activations, gradients and constants of program P, and stores the address of every
/// argument of the kernels in its schedule.
template <class P>
class machine_memory {
 public:
  using plan_type = plan<P>;
  using schedule = schedule_table<P>;
  using real = real_of<P>;
  static constexpr int domains = counts_of<P>.domains;
  static constexpr int constants_count = plan_type::lowered.count.constants;
  static constexpr int arrays_count = plan_type::memory.arrays;
  static constexpr int selected_count = plan_type::memory.selected_rows;
  /// Whether the program may use tensor arrays. Only programs with blocks (loops and branches) do.
  static constexpr bool has_arrays = arrays_count > 0 || counts_of<P>.blocks > 1;

  LAMINA_COLD explicit machine_memory(const external_buffers& external)
      : external_(external), fixed_(static_cast<std::size_t>(fixed_size)) {
    for (int i = 0; i < constants_count; ++i) constants_[i] = constant_table<P>::table.of[i];
    for (float*& begin : arena_begin_) begin = nowhere();
  }

  /// One number per row domain; a domain is a set of rows, such as the samples of a mini-batch.
  /// `width` holds, for each domain, the number of floats that one row needs in its arena. The
  /// machine reads nothing else of the memory plan at run time.
  struct by_domain {
    int of[bound(domains)];
  };
  static constexpr by_domain make_widths() {
    by_domain w{};
    copy_items(w.of, plan_type::memory.arena_width, domains);
    return w;
  }
  static constexpr by_domain width = make_widths();
  /// For each domain: 1 if its number of rows is known before a run, else 0.
  static constexpr by_domain make_fed() {
    by_domain w{};
    for (int d = 0; d < domains; ++d) w.of[d] = plan_type::fed.of[d] ? 1 : 0;
    return w;
  }
  static constexpr by_domain fed = make_fed();
  static constexpr bool all_fed = plan_type::fed.all();

  void bind(const domain_rows<domains>& rows) {
    if (!constants_) fail_moved();
    bool same = bound_;
    for (int d = batch::domain; d < domains; ++d)
      same = same && (rows.count[d] == rows_.count[d] || fed.of[d] == 0);
    const domain_rows<domains> before = rows_;
    rows_ = rows;
    if constexpr (!all_fed) {
      for (int d = batch::domain; d < domains; ++d)
        if (fed.of[d] == 0)
          rows_.count[d] = before.count[d], rows_.offsets[d] = before.offsets[d],
          rows_.first[d] = 0;
    }
    if (!same) bind_anew();
  }

  void feed(int data, const void* values) {
    feeds_[data] = values == nullptr ? nowhere() : const_cast<void*>(values);
    for (int a = 0; a < schedule::arguments; ++a)
      if (schedule::table.slot_of[a].space == memory_space::feed &&
          schedule::table.slot_of[a].offset == data)
        arguments_[a] = static_cast<float*>(feeds_[data]);
  }

  const void* fed_data(int data) const { return feeds_[data]; }
  /// Recomputes all addresses. The caller must call this function after it has changed a number of
  /// rows of fed domains in rows(); otherwise kernels use addresses for the old numbers.
  void bind_rows() { bind_anew(); }

  /// Sets the number of rows of a domain whose rows are made by operators during the run. Allocates
  /// memory only if the number is larger than ever before.
  void make_rows(int domain, int rows) {
    if (rows > capacity_[domain]) reserve_rows(domain, rows);
    rows_.count[domain] = rows;
    constants_[inverse_rows(domain)] = inverse_of(rows);
  }
  /// Returns memory for the offsets of `sequences` sequences of a domain. The domain may be fed and
  /// so already have offsets: an operator that reads its rows from a tensor array then writes the
  /// same offsets again.
  int* make_offsets(int domain, int sequences) {
    std::vector<int>& offsets = offsets_[domain];
    const std::size_t wanted = static_cast<std::size_t>(sequences) + 1;
    if (offsets.size() < wanted) offsets.resize(wanted);
    rows_.offsets[domain] = offsets.data();
    return offsets.data();
  }

  run_context context(std::uint64_t seed, std::uint64_t step, const row_allocator* allocator) {
    run_context c{rows_.count, rows_.offsets, rows_.first, seed, step, scratch_.data(),
                  allocator,   nullptr,       0,           0,    {},   schedule::convolutions()};
    if constexpr (keeps_filters) c.filters = &filters_;
    c.is_odd_run = is_odd_run_;
    c.all_parts = all_parts_;
    return c;
  }
  /// For a machine that computes one part of a mini-batch: kernels compute statistics over the
  /// samples of all parts by `all_parts`. If `all_parts` is null, statistics are over the samples
  /// of this machine only.
  void reduce_by(const batch_sums* all_parts) { all_parts_ = all_parts; }
  /// The check of computed values (for NaN); empty unless the caller has requested one.
  const group_check& checked_by() const { return check_; }
  void check_by(const group_check& how) {
    check_ = how;
    check_.leaves_updates = external_.leaves_updates;
  }
  /// The caller must call this function before each run: it makes every second run read large
  /// weights from the last panel to the first, so that it begins with the panels in the cache.
  void begin_run() { is_odd_run_ = !is_odd_run_; }
  float* scratch() { return scratch_.data(); }
  std::size_t scratch_floats() const { return scratch_.size(); }
  domain_rows<domains>& rows() { return rows_; }
  const domain_rows<domains>& rows() const { return rows_; }
  float** arguments() { return arguments_; }
  tensor_array& array(int number) {
    if constexpr (has_arrays) return arrays_[number];
    __builtin_unreachable();  // never called for a program without arrays
  }
  using rows_type = basic_selected_rows<real_of<P>>;
  rows_type& selected_rows(int number) requires(selected_count > 0) { return selected_[number]; }
  real* constants() { return constants_.get(); }

  float* address_of(memory_slot s) {
    switch (s.space) {
      case memory_space::arena:
        return arena_begin_[s.domain] + static_cast<std::ptrdiff_t>(s.offset) * capacity_[s.domain];
      case memory_space::fixed:
        return fixed_.data() + s.offset;
      case memory_space::parameter:
      case memory_space::accumulator:
      case memory_space::gradient:
      case memory_space::updated:
        return external_.address_of(s);
      case memory_space::numbers:
        return external_.leaves_updates ? nullptr : constant(s.offset);
      case memory_space::feed:
        return static_cast<float*>(feeds_[s.offset]);
      case memory_space::array:
        if constexpr (has_arrays) return reinterpret_cast<float*>(arrays_.get() + s.offset);
        return nullptr;
      case memory_space::rows:
        if constexpr (selected_count > 0)
          return reinterpret_cast<float*>(selected_.get() + s.offset);
        return nullptr;
      case memory_space::frame:
      case memory_space::view:
        return nowhere();
      case memory_space::none:
        return s.offset >= 0 ? constant(s.offset) : nullptr;
    }
    return nullptr;
  }

 private:
  static constexpr long long fixed_size = plan_type::memory.fixed_size;

  [[noreturn]] LAMINA_COLD static void fail_moved() {
    LAMINA_THROW error(
        "lamina: run: expected an evaluator or a gradient machine with memory, found one that was "
        "moved from");
  }

  // The address of an array that has no rows and therefore no memory. It is not null, because null
  // means that the argument is absent, and because kernels compute addresses from it, which is
  // undefined for a null pointer.
  static float* nowhere() {
    static float nothing[1] = {};
    return nothing;
  }
  static real inverse_of(int rows) {
    return rows > 0 ? real(1) / static_cast<real>(rows) : real(0);
  }
  float* constant(int i) { return reinterpret_cast<float*>(constants_.get() + i); }

  /// Sets the number of rows of a domain to 0 and its address to nowhere(), so that no kernel reads
  /// freed memory.
  void forget_rows(int domain) {
    static constexpr int no_sequences[2] = {};
    rows_.count[domain] = capacity_[domain] = 0;
    rows_.offsets[domain] = no_sequences;
    arena_begin_[domain] = nowhere();
  }
  /// A guard around allocations. If an allocation throws, the guard sets the domains to no rows, so
  /// that the machine stays valid and the next bind() allocates the memory again.
  struct all_or_nothing {
    machine_memory* memory;
    int first, end;  // domains
    bool only_fed;
    LAMINA_COLD ~all_or_nothing() {
      if (memory == nullptr) return;
      for (int d = first; d < end; ++d)
        if (!only_fed || fed.of[d] != 0) memory->forget_rows(d);
      memory->bound_ = false;
      memory->set_addresses();
    }
  };

  LAMINA_COLD void reserve_rows(int domain, int rows) {
    all_or_nothing guard{this, domain, domain + 1, false};
    // Reserve slack: the number of rows varies between runs.
    const int capacity = rows <= 1 << 30 ? rows + rows / 4 : rows;
    made_[domain].resize(static_cast<std::size_t>(width.of[domain]) *
                         static_cast<std::size_t>(capacity));
    capacity_[domain] = capacity;
    arena_begin_[domain] = made_[domain].data();
    set_addresses();
    find_scratch();
    guard.memory = nullptr;
  }
  LAMINA_COLD void bind_anew() {
    all_or_nothing guard{this, batch::domain, domains, true};
    std::size_t wanted = 0;
    for (int d = batch::domain; d < domains; ++d) {
      if (fed.of[d] == 0) continue;
      const int rows = rows_.count[d];
      constants_[inverse_rows(d)] = inverse_of(rows);
      capacity_[d] = rows;
      wanted += static_cast<std::size_t>(width.of[d]) * static_cast<std::size_t>(rows);
    }
    if (wanted > arena_.size()) arena_.resize(wanted);
    float* begin = arena_.data();
    for (int d = batch::domain; d < domains; ++d) {
      if (fed.of[d] == 0) continue;
      arena_begin_[d] = begin;
      begin += static_cast<std::ptrdiff_t>(width.of[d]) * rows_.count[d];
    }
    set_addresses();
    find_scratch();
    bound_ = true;
    guard.memory = nullptr;
  }
  void set_addresses() {
    for (int a = 0; a < schedule::arguments; ++a)
      if (!bound_ || (schedule::table.slot_of[a].space != memory_space::frame &&
                      schedule::table.slot_of[a].space != memory_space::view))
        arguments_[a] = address_of(schedule::table.slot_of[a]);
  }
  // Allocates scratch memory for the kernel that needs most. The size depends only on the numbers
  // of rows; the capacity is used in place of numbers that are set during a run, as their upper
  // bound.
  LAMINA_COLD void find_scratch() {
    run_context c = context(0, 0, nullptr);
    c.rows = capacity_;
    std::ptrdiff_t most = 0;
    for (int g = 0; g < schedule::groups; ++g) {
      const schedule_entry& e = schedule::table.entries[g];
      if (e.scratch == nullptr) continue;
      const std::ptrdiff_t n = e.scratch(schedule::program, arguments_ + e.first_argument,
                                         schedule::table.info + e.first_argument, e.group, c);
      if (n > most) most = n;
    }
    if (static_cast<std::size_t>(most) <= scratch_.size()) return;
    // The contents are copied: a kernel that sets a number of rows may enlarge the scratch memory
    // while it uses it.
    aligned_buffer larger(static_cast<std::size_t>(most));
    if (scratch_.size() > 0)
      std::memcpy(larger.data(), scratch_.data(), scratch_.size() * sizeof(float));
    scratch_ = std::move(larger);
  }

  static constexpr int made_count = all_fed ? 1 : domains;
  // An operator that reads a tensor array writes offsets of fed domains too (make_offsets). Only
  // programs with blocks have such operators.
  static constexpr int offsets_count = all_fed && counts_of<P>.blocks <= 1 ? 1 : domains;
  // Only inference keeps transformed filters; in training, each step changes the filters.
  static constexpr bool keeps_filters = P::desc.is_test && schedule::transforms_filters();
  struct no_filters {};
  /// The type of a member that the program does not need. (An array without elements would still
  /// have a destructor with code.)
  template <int Number>
  struct no_array {
    explicit no_array(int) {}
  };

  external_buffers external_;
  aligned_buffer arena_, fixed_, scratch_;
  // Kernel arguments point to these elements, so the elements must keep their address when the
  // machine object is moved.
  owned_array<real> constants_{at_least_one(constants_count)};
  void* feeds_[bound(counts_of<P>.data)] = {};
  float* arguments_[bound(schedule::arguments)] = {};
  domain_rows<domains> rows_;
  float* arena_begin_[bound(domains)] = {};
  int capacity_[bound(domains)] = {};
  [[no_unique_address]] std::conditional_t<has_arrays, owned_array<tensor_array>, no_array<0>>
      arrays_{at_least_one(arrays_count)};
  [[no_unique_address]] std::conditional_t<(selected_count > 0), owned_array<rows_type>,
                                           no_array<1>>
      selected_{at_least_one(selected_count)};
  aligned_buffer made_[bound(made_count)];  // arenas of domains that are not fed
  std::vector<int> offsets_[bound(offsets_count)];
  [[no_unique_address]] std::conditional_t<keeps_filters, filter_memory, no_filters> filters_;
  group_check check_;
  const batch_sums* all_parts_ = nullptr;
  bool bound_ = false, is_odd_run_ = false;
};

}}}  // namespace lamina::engine::cpu
