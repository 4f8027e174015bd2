// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/schedule/machine.hpp - runs a schedule, a constexpr table of groups, by a loop
// over its groups.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <type_traits>

#include <lamina/engine/common/first_update.hpp>
#include <lamina/engine/cpu/memory/machine_memory.hpp>
#include <lamina/engine/cpu/schedule/block_runner.hpp>
#include <lamina/engine/cpu/schedule/row_tiles.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {
struct no_blocks {};
}  // namespace detail

/// Runs program P on the CPU, in float or in double (plan/real_type.hpp). A machine owns
/// activations and gradients, never parameters. Only one thread at a time may use a machine.
/// Several machines may run at the same time on the same parameters if none of them writes the
/// parameters.
template <class P>
class machine {
 public:
  using program = P;
  using plan_type = plan<P>;
  using schedule = schedule_table<P>;
  using memory_type = machine_memory<P>;
  static constexpr int domains = counts_of<P>.domains;
  static constexpr int constants_count = memory_type::constants_count;
  /// Whether the program has loops or branches, or operators that set numbers of rows. All other
  /// programs run in one pass over the groups.
  static constexpr bool has_blocks = counts_of<P>.blocks > 1 || !memory_type::all_fed;

  /// An operator of a program in double that supports float only; void if there is none.
  using refused = typename schedule::template called<schedule::in_float_alone>::type;

  LAMINA_COLD explicit machine(const external_buffers& external) : memory_(external) { bind(1); }

  /// Prepares the memory for a mini-batch with these numbers of rows. Allocates only if this
  /// mini-batch needs more memory than each earlier one. The machine does not copy the sequence
  /// offsets, so they must outlive the run.
  void bind(const domain_rows<domains>& rows) {
    memory_.bind(rows);
    if constexpr (tiles_type::found) tiles_.bind(rows.count[batch::domain]);
  }
  /// Prepares the memory for `rows` samples without sequences; `first_row` is the index of the
  /// first sample in the whole mini-batch.
  void bind(int rows, std::int64_t first_row = 0) { bind(domain_rows<domains>(rows, first_row)); }

  /// Sets the array of data layer number `data`. The machine does not copy the array, so it must
  /// outlive the run.
  void feed(int data, const void* values) { memory_.feed(data, values); }

  /// Sets the largest number of iterations of a while loop; run() throws lamina::error if a loop
  /// needs more.
  void limit_iterations(std::uint64_t most) requires has_blocks { blocks_.limit_iterations(most); }

  /// Sets the source from which layer::read_minibatch gets its data.
  void read_from(const minibatch_source& source) requires has_blocks { blocks_.read_from(source); }

  /// Runs every group whose input data are all in `given`, a bit mask with one bit per input data.
  /// Throws lamina::error if a loop needs too many iterations, a label or an index is out of range,
  /// or the number of rows of a domain changes where it must not.
  void run(unsigned long long given, std::uint64_t seed, std::uint64_t step) {
    memory_.begin_run();
    if constexpr (has_blocks) {
      blocks_.run(memory_, given, seed, step);
    } else {
      if (memory_.checked_by()) return run_checked(given, memory_.context(seed, step, nullptr));
      if (other_.run != nullptr) return other_.run(other_.self, *this, given, seed, step);
      const run_context c = memory_.context(seed, step, nullptr);
      if constexpr (tiles_type::found)
        if (tiles_.applies()) return tiles_.run(given, memory_.arguments(), c);
      for (const schedule_entry& e : schedule::table.entries)
        if ((e.feeds & ~given) == 0)
          e.run(schedule::program, memory_.arguments() + e.first_argument,
                schedule::table.info + e.first_argument, e.group, c);
    }
  }

  /// From now on, run() checks all fed data and all computed arrays. It throws lamina::error at the
  /// first array with NaN or, if `infinity` is set, with infinity. Runs take longer. `names` is the
  /// recorded program, which has the names of variables.
  LAMINA_COLD void check_numbers(const program_view& names, bool infinity) {
    if constexpr (has_nan_check<P>) {
      group_check made = nan_check_of<P>::make();
      made.names = &names;
      made.infinity = infinity;
      memory_.check_by(made);
    } else {
      static_cast<void>(names), static_cast<void>(infinity);
      LAMINA_THROW error(
          "lamina: check_nan: expected #include <lamina/model/check_nan.hpp> in this file, found "
          "none");
    }
  }

  /// Whether the last run may have updated a parameter before it threw an error. (Only for programs
  /// with blocks: all other programs check the fed data and allocate memory before they update
  /// anything.)
  bool may_have_updated() const requires has_blocks { return blocks_.reached() >= first_update; }

  /// A function that runs the schedule in place of the machine (for example on several threads);
  /// null if there is none.
  struct other_run {
    void* self;
    void (*run)(void* self, machine& of, unsigned long long given, std::uint64_t seed,
                std::uint64_t step);
  };
  void run_by(const other_run& other) requires(!has_blocks) { other_ = other; }
  memory_type& memory() { return memory_; }
  /// Whether runs process the mini-batch in tiles of rows: all groups for the first tile, then all
  /// groups for the next tile, and so on.
  bool is_tiled() const {
    if constexpr (tiles_type::found)
      return tiles_.applies();
    else
      return false;
  }

  /// The number of samples of the mini-batch, or the number of rows of another domain.
  int rows(int domain = batch::domain) const { return memory_.rows().count[domain]; }
  /// The memory layout of variable V of the program.
  template <int V>
  static constexpr const variable_layout& layout() {
    return layout_of_variable<P, V>;
  }
  /// The address of variable V of the program; null if the plan never stores the variable in
  /// memory.
  template <int V>
  float* address() {
    return address(layout<V>());
  }
  float* address(const variable_layout& layout) { return memory_.address_of(layout.slot); }
  /// The layout of a variable that the program returns or names, or that persists; null for any
  /// other variable.
  static constexpr const variable_layout* layout(int variable) {
    return variable_table<P>::find(variable);
  }
  float* address(int variable) {
    const variable_layout* const found = layout(variable);
    return found == nullptr ? nullptr : address(*found);
  }
  /// The address of the gradient of parameter i, which has the layout of the parameter; null if the
  /// program does not compute it.
  float* gradient(int i) { return memory_.address_of(gradient_table<P>::table.of[i]); }
  /// The gradient of parameter i if it is sparse; otherwise null.
  basic_selected_rows<real_of<P>>* gradient_rows(int i) {
    if constexpr (memory_type::selected_count > 0) {
      const int found = rows_gradient_table<P>::table.of[i];
      return found < 0 ? nullptr : &memory_.selected_rows(found);
    } else {
      static_cast<void>(i);
      return nullptr;
    }
  }
  /// The scalar numbers that statements read: attributes, and the numbers that an optimizer sets
  /// before a step.
  auto* constants() { return memory_.constants(); }

 private:
  LAMINA_COLD void run_checked(unsigned long long given, const run_context& c) {
    for (int g = 0; g < schedule::groups; ++g)
      if ((schedule::table.entries[g].feeds & ~given) == 0)
        memory_.checked_by().run(memory_.checked_by(), schedule::program, g, memory_.arguments(),
                                 c);
  }

  static constexpr int first_update = has_blocks ? first_updating_group<schedule>() : 0;

  // Programs with loops are not tiled, because it is known only at run time which groups run how
  // often.
  static constexpr bool makes_tiles = !has_blocks && computes_in_float<P>;
  using tiles_type = std::conditional_t<makes_tiles, row_tiles<P>, row_tiles<P, false>>;

  memory_type memory_;
  [[no_unique_address]] tiles_type tiles_;
  other_run other_ = {nullptr, nullptr};
  [[no_unique_address]] std::conditional_t<has_blocks, block_runner<P>, detail::no_blocks> blocks_;
};

}}}  // namespace lamina::engine::cpu
