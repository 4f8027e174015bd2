// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/schedule/machine.hpp - runs a schedule on a device: launches its groups in
// order, or replays them as one CUDA graph.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <lamina/core/messages/check.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/engine/common/dynamic_rows.hpp>
#include <lamina/engine/common/first_update.hpp>
#include <lamina/engine/cuda/memory/machine_memory.hpp>
#include <lamina/engine/cuda/schedule/block_engine.hpp>
#include <lamina/engine/cuda/schedule/run_key.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// Runs program P in float on a backend. It owns the activations, the gradients and the copies of
/// the data on the device, but not the parameters.
template <class P, class Backend>
class machine {
 public:
  using schedule = schedule_table<P, Backend>;
  using plan_type = typename schedule::plan_type;
  using memory_type = machine_memory<P, Backend>;
  static constexpr int domains = counts_of<P>.domains;
  /// Whether the program has loops or branches. All other programs run in one pass over the groups.
  static constexpr bool has_blocks = schedule::has_blocks;
  /// Whether the program makes rank tables, so that its launches depend on the lengths of
  /// sequences.
  static constexpr bool ranks = [] {
    if constexpr (has_blocks) return host_table<P, Backend>::values.ranks;
    return false;
  }();
  static_assert(check<(schedule::lacking < 0), gets_type<typename schedule::lacking_group>>,
                "lamina: cuda: the device has no kernel for this yet: see docs/cuda.md");
  static_assert(check<computes_in_float<P>>,
                "lamina: cuda: expected a program in float, found one in double");

  LAMINA_COLD machine(Backend& b, const external_buffers& external)
      : backend_(b), memory_(b, external), blocks_(b) {
    bind(1);
  }

  /// Sets the number of rows of a batch without sequences.
  void bind(int rows, std::int64_t first_row = 0) {
    struct {
      int count[bound(domains)] = {};
      const int* offsets[bound(domains)] = {};
      std::int64_t first[bound(domains)] = {};
    } all;
    all.count[batch::domain] = rows;
    all.first[batch::domain] = first_row;
    bind(all);
  }
  /// Sets the number of rows and the sequence offsets of each domain. Both arrays must stay valid
  /// until the next run.
  template <class Rows>
  requires requires(const Rows& r) { r.count[0] + r.first[0]; }
  void bind(const Rows& rows) {
    memory_.set_first_rows(rows.first);
    if (memory_.set_rows(rows.count, rows.offsets)) memory_.bind();
  }

  /// Sets the maximum number of iterations of one while loop; a loop that needs more throws.
  void limit_iterations(std::uint64_t most) requires has_blocks { blocks_.limit_iterations(most); }

  /// Sets the source from which layer::read_minibatch gets its data. The source's function calls
  /// read_in().
  void read_from(const minibatch_source& source) requires has_blocks { blocks_.read_from(source); }
  /// Gives a running program its next mini-batch: waits for the groups launched before, then copies
  /// `data` from host memory to the device.
  template <class Rows>
  void read_in(const Rows& rows, const void* const* data) {
    memory_.fixed().download_results();
    finish();
    memory_.fixed().forget_results();
    bind(rows);
    for (int i = 0; i < counts_of<P>.data; ++i) memory_.feed(i, data[i]);
    memory_.take_minibatch();
  }

  /// Sets the host array of data variable `data`. The next run copies it to the device.
  void feed(int data, const void* values) { memory_.feed(data, values); }
  int rows(int domain = batch::domain) const { return memory_.rows()[domain]; }
  /// The sequences of a domain after a run, in host memory.
  sequence_rows sequences(int domain) {
    return {memory_.host_offsets()[domain], rows(schedule::program.domains[domain].parent)};
  }

  /// Runs every group whose data are all in the bit mask `given` (one bit per data variable), and
  /// waits for the device. Throws lamina::error for a label or index out of range, and for errors
  /// of the device.
  void run(unsigned long long given, std::uint64_t seed, std::uint64_t step) {
    reached_ = -1;
    try {
      memory_.stage(given, seed + step);
      perform([&] { run_groups(given, seed, step); }, given);
    } catch (...) {
      // Waits, because copies may still read the host memory that the next run overwrites.
      settle();
      throw;
    }
    reached_ = schedule::groups;
    finish();
  }
  /// Whether the last run may have updated a parameter before it threw. A number out of range is
  /// reported only after all groups have run.
  bool may_have_updated() const {
    // constexpr, because a call at run time would put the whole plan into the binary.
    constexpr int first = first_updating_group<schedule>();
    return reached_ >= first;
  }

  /// Copies variable V of the program to the host and returns the address of the copy; null if the
  /// plan never stores the variable.
  template <int V>
  float* address() {
    return address(layout_of_variable<P, V, plan_type>);
  }
  float* address(const variable_layout& layout) { return memory_.fetch(layout); }
  /// The layout of a variable that the program returns or names, or that persists; null for any
  /// other variable.
  static constexpr const variable_layout* layout(int variable) {
    return variable_table<P, plan_type>::find(variable);
  }
  float* address(int variable) {
    const variable_layout* const found = layout(variable);
    return found == nullptr ? nullptr : address(*found);
  }
  /// Copies a variable back to the device after the caller changed it at the address that address()
  /// returned. Call it before the next run.
  void store(const variable_layout& layout) { memory_.store(layout); }
  /// The gradient of parameter i in device memory, in row-major order; null if there is none.
  float* gradient(int i) { return memory_.address_of(gradient_table<P>::table.of[i]); }
  /// The gradient of parameter i if it is sparse; otherwise null.
  const selected_rows* gradient_rows(int i) const {
    if constexpr (memory_type::selects_rows)
      if (const int found = rows_gradient_table<P>::table.of[i]; found >= 0)
        return &memory_.rows_gradient(found);
    return nullptr;
  }
  /// The constants that statements read: attributes, and the numbers that an optimizer sets before
  /// a step.
  float* constants() { return memory_.fixed().constants(); }

 private:
  /// Records the last group that the block runner reached, also if an exception leaves the run.
  struct reached_group {
    machine* of;
    ~reached_group() { of->reached_ = of->blocks_.reached(); }
  };
  void run_groups(unsigned long long given, std::uint64_t seed, std::uint64_t step) {
    memory_.upload();
    if constexpr (has_blocks) {
      const reached_group note{this};
      blocks_.run(memory_, given, seed, step);
    } else {
      run_context state = memory_.state();
      state.given = given;
      for (int g = 0; g < schedule::groups; ++g)
        if ((schedule::table.entries[g].feeds & ~given) == 0)
          group_runner<P, Backend>::run(backend_, memory_, reached_ = g, state);
    }
    memory_.fixed().download_results();
  }
  void finish() {
    backend_.wait();
    if (const fault_word f = memory_.fixed().found_fault(); f != no_fault) fail(f);
  }
  template <class Work>
  void perform(const Work& work, unsigned long long given) {
    if (!repeats) return backend_.once(work);
    key_.begin(given);
    key_.add_rows(memory_);
    backend_.replay(key_.view(), work);
  }
  LAMINA_COLD void settle() noexcept {
    try {
      backend_.wait();
    } catch (const error&) {
      // This exception is ignored, because the one in flight is more specific.
    }
  }
  /// Whether the launches of a run depend only on the numbers of rows (and on the lengths of
  /// sequences, if there are rank tables), not on numbers that the host reads during the run.
  static constexpr bool repeats = [] {
    for (int k = 0; k < counts_of<P>.operators; ++k)
      if (P::desc.operators[k].schema->facts.host_takes_part) return false;
    if constexpr (has_blocks)
      return host_table<P, Backend>::repeats;
    else
      return true;
  }();
  [[noreturn]] LAMINA_COLD void fail(fault_word f) {
    const int g = static_cast<int>(f >> 32);
    int i = static_cast<int>(f & 0xffffffffu);
    const auto& e = schedule::table.entries[g];
    const run_context state = memory_.state();
    const call_context failed = memory_.site(g, state);
    if (e.checked.from == chosen::length) fail_length(failed, e.checked.slot, i);
    if (e.checked.tell != nullptr) e.checked.tell(failed, i);
    argument_view numbers = failed.in(e.checked.slot);
    if (e.checked.next_slot >= 0 && i >= numbers.rows * numbers.columns) {
      i -= numbers.rows * numbers.columns;
      numbers = failed.in(e.checked.next_slot);
    }
    std::string place = place_of(failed.program(), failed.op(), failed.schema());
    if (const int v = failed.variable_of(numbers.data); v >= 0)
      place += ", " + source_of(failed.program(), v);
    const argument_view first = failed.in(0);
    const bool is_fraction = e.checked.from == chosen::fraction;
    const int count = e.checked.count != nullptr          ? e.checked.count(failed)
                      : is_fraction                       ? 2
                      : e.checked.from == chosen::element ? first.line
                      : e.checked.from == chosen::row     ? first.rows
                                                          : failed.integer(0);
    if constexpr (has_blocks) {
      // The arrays may hold the numbers of a later iteration by now, so the message does not read
      // them.
      if (host_table<P, Backend>::table.inner[g])
        throw error(text() << "lamina: " << place << ": " << e.checked.what << " in row "
                           << i / numbers.columns << ": expected 0 to " << count - 1
                           << ", found another in a loop or branch");
    }
    std::int64_t found[1] = {};
    const std::ptrdiff_t at = i / numbers.columns * numbers.stride + i % numbers.columns;
    const std::size_t width = static_cast<std::size_t>(size_of(numbers.type));
    backend_.download(found, static_cast<const char*>(numbers.data) + at * static_cast<int>(width),
                      width);
    backend_.wait();
    const int row = i / numbers.columns;
    numbers.data = found;
    text message;
    message << "lamina: " << place << ": " << e.checked.what << " in row " << row << ": expected ";
    const std::int64_t number = is_fraction ? 0 : numbers.integer(0);
    if (is_fraction)
      message.print("0 to 1, found %f", load_number(found, numbers.type, 0));
    else if (number >= 0 && number < count)
      message << e.checked.rule << ", found " << number;
    else
      message << "0 to " << count - 1 << ", found " << number;
    throw error(message);
  }

  [[noreturn]] LAMINA_COLD void fail_length(const call_context& failed, int slot, int i) {
    const operand x = failed.input(slot);
    const int most = failed.output(0).columns / at_least_one(x.columns);
    if constexpr (has_blocks) {
      // A later iteration may have changed the sequences, so the message does not read them.
      if (host_table<P, Backend>::table.inner[failed.number_of_group])
        lamina::engine::fail(
            failed, {"expected sequences of at most ", most, " rows, found more in sequence ", i});
    }
    const int* const offsets = failed.run.host_offsets[x.domain];
    lamina::engine::fail(failed, {"expected sequences of at most ", most, " rows, found ",
                                  offsets[i + 1] - offsets[i], " in sequence ", i});
  }

  Backend& backend_;
  memory_type memory_;
  run_key<P, ranks> key_;  // key of the current run
  int reached_ = -1;       // the last group of the outermost block that the last run reached
  [[no_unique_address]] std::conditional_t<has_blocks, device_block_runner<P, Backend>,
                                           detail::no_block_memory>
      blocks_;
};

}}}  // namespace lamina::engine::cuda
