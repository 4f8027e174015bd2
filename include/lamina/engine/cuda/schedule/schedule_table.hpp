// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/schedule/schedule_table.hpp - a plan as a constexpr table: the launch function
// of each group, and the layout and memory slot of each argument.
#pragma once

#include <lamina/core/config.hpp>

#include <utility>

#include <lamina/engine/cuda/schedule/launch.hpp>
#include <lamina/plan/call_program.hpp>
#include <lamina/plan/plan.hpp>
#include <lamina/plan/run_time_tables.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// The schedule of program P for a backend. A kernel depends only on the type of its group's
/// expression, so equal groups of all programs share one kernel.
template <class P, class Backend>
struct schedule_table {
  using plan_type = plan<P>;
  static constexpr int groups = plan_type::groups;
  static constexpr int arguments = plan_type::code.count.arguments;
  static constexpr const auto& program = call_program<P>::view;
  using launch_function = void (*)(Backend&, const call_context&);
  using scratch_function = std::ptrdiff_t (*)(const call_context&);
  /// Whether the program has loops or branches, makes rows during a run, or uses tensor arrays. All
  /// other programs run in one pass over the groups.
  static constexpr bool has_blocks =
      counts_of<P>.blocks > 1 || !plan_type::fed.all() || plan_type::memory.arrays > 0;

  struct entry {
    launch_function run;       // null if the group runs a block, whose index is group.rows
    launch_function run_here;  // for operators that the host may compute
    scratch_function scratch;
    int first_argument;
    group_info group;
    checked_input checked;
    unsigned long long feeds;
  };
  struct kernel {
    launch_function run;
    launch_function run_here;
    scratch_function scratch;
    checked_input checked;
  };
  struct kernels {
    kernel of[bound(plan_type::kernels)];
  };
  /// The kernel type that describes the filters of a group whose head is a convolution; void for
  /// all other groups.
  template <class Group>
  struct convolution_of {
    using type = void;
  };
  template <class Group>
  requires requires { group_kernel<Group>::filter; }
  struct convolution_of<Group> {
    using type = group_kernel<Group>;
  };
  template <class Op>
  requires requires { call_kernel<Op>::filter; }
  struct convolution_of<expression::call_expression<Op>> {
    using type = call_kernel<Op>;
  };
  /// The set of tile shapes (conv_tile.hpp) of all convolutions that share the kernel with index
  /// `number`; 0 if the group is not a convolution.
  template <class Group>
  static constexpr conv_folds folds_of(int number) {
    using convolution = typename convolution_of<Group>::type;
    conv_folds folds = 0;
    if constexpr (!__is_same(convolution, void))
      for (int g = 0; g < groups; ++g) {
        if (plan_type::distinct.kernel[g] != number) continue;
        const argument_info filter = argument_info_of<plan_type>(
            plan_type::code.groups[g].arguments + convolution::filter.argument, 1);
        const operator_desc* const op = call_program<P>::called_by(
            plan_type::lowered
                .instructions[plan_type::grouped.order[plan_type::grouped.groups[g].first]]);
        const int conv_groups = static_cast<int>(
            program.attributes[op->attributes + convolution::filter.groups].number);
        folds |= convolution::folds({program.dims + filter.dims, filter.rank, conv_groups});
      }
    return folds;
  }
  template <class Group, conv_folds Folds>
  static constexpr kernel kernel_of() {
    kernel k{};
    if constexpr (Folds != 0) {
      k.run = &group_kernel<Group>::template run_folded<Backend, Folds>;
      if constexpr (requires { &group_kernel<Group>::template folded_scratch<Backend, Folds>; })
        k.scratch = group_kernel<Group>::template folded_scratch<Backend, Folds>;
    } else if constexpr (group_kernel<Group>::exists) {
      k.run = &group_kernel<Group>::template run<Backend>;
      if constexpr (has_blocks)
        if constexpr (requires { &group_kernel<Group>::template run_here<Backend>; })
          k.run_here = &group_kernel<Group>::template run_here<Backend>;
      if constexpr (requires { &group_kernel<Group>::template scratch<Backend>; })
        k.scratch = group_kernel<Group>::template scratch<Backend>;
      if constexpr (requires { group_kernel<Group>::checked; })
        k.checked = group_kernel<Group>::checked;
    }
    return k;
  }
  template <int K>
  using distinct_group = expression::group_of<plan_type, plan_type::distinct.first[K]>;
  template <int... K>
  static constexpr kernels make_kernels(std::integer_sequence<int, K...>) {
    return {{kernel_of<distinct_group<K>, folds_of<distinct_group<K>>(K)>()...}};
  }

  template <int... K>
  static constexpr int find_lacking(std::integer_sequence<int, K...>) {
    int first = -1;
    (void)((!group_kernel<distinct_group<K>>::exists && (first = K, true)) || ...);
    return first;
  }
  /// The first distinct group for which the device has no kernel, or -1.
  static constexpr int lacking =
      find_lacking(std::make_integer_sequence<int, plan_type::kernels>{});
  using lacking_group = distinct_group < lacking<0 ? 0 : lacking>;

  struct table_type {
    entry entries[bound(groups)];
    argument_info info[bound(arguments)];
    memory_slot slot_of[bound(arguments)];
  };

  /// Returns a program variable that an instruction writes, or -1.
  static constexpr int written_by(const instruction& i) {
    for (int r = i.outputs; r < i.outputs + i.output_count; ++r) {
      const int v = plan_type::lowered.results[r];
      if (v >= 0 && v < counts_of<P>.variables) return v;
    }
    return -1;
  }

  static constexpr table_type make() {
    constexpr kernels k = make_kernels(std::make_integer_sequence<int, plan_type::kernels>{});
    table_type t{};
    int blocks_run = 0;
    for (int g = 0; g < groups; ++g) {
      const group_desc& d = plan_type::grouped.groups[g];
      const group_code& c = plan_type::code.groups[g];
      const instruction& i = plan_type::lowered.instructions[plan_type::grouped.order[d.first]];
      const int number = plan_type::distinct.kernel[g];
      const int parts = parts_of_rows(d.rows < 0 ? d.rows : d.depth);
      t.entries[g] = {k.of[number].run,
                      k.of[number].run_here,
                      k.of[number].scratch,
                      c.arguments,
                      {written_by(i), d.rows, d.columns, d.depth, i.schema->bare,
                       call_program<P>::called_by(i)},
                      k.of[number].checked,
                      d.feeds};
      if (i.runs >= 0) {
        t.entries[g].run = nullptr;
        t.entries[g].group.rows = blocks_run++;
        // Stores the condition variable, because an error message needs its name.
        if (i.schema->facts.block != block_rule::loop_gradient)
          t.entries[g].group.variable = plan_type::lowered.operands[i.inputs].id;
      }
      for (int a = c.arguments; a < c.arguments + c.argument_count; ++a) {
        t.slot_of[a] = slot_of_argument<plan_type>(a);
        t.info[a] = argument_info_of<plan_type>(a, parts);
      }
    }
    return t;
  }
  static constexpr table_type table = make();
};

}}}  // namespace lamina::engine::cuda
