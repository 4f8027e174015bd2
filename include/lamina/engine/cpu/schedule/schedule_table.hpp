// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/schedule/schedule_table.hpp - a plan as a constexpr table. For each group, it
// has the function, and the layout and the memory slot of each argument.
#pragma once

#include <lamina/core/config.hpp>

#include <type_traits>
#include <utility>

#include <lamina/core/compile_time/same_address.hpp>
#include <lamina/engine/cpu/conv/conv_methods.hpp>
#include <lamina/engine/cpu/gemm/loop_weight_gradient.hpp>
#include <lamina/engine/cpu/memory/copy_kernels.hpp>
#include <lamina/engine/cpu/schedule/call_kernels.hpp>
#include <lamina/engine/cpu/schedule/group_kernel.hpp>
#include <lamina/plan/call_program.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// An entry of the table: one group. An entry that runs a block (a loop body or a branch) has no
/// function; its `group.rows` is its index among the block entries (block_schedule.hpp).
struct schedule_entry {
  group_function run;
  scratch_function scratch;
  int first_argument;
  group_info group;
  unsigned long long feeds;
};

/// The kernel of a group that computes in `Real`. `Counts` says that all arguments of the group are
/// single integers or booleans, such as loop counters.
template <class Group, bool Counts, class Real>
struct scheduled_kernel : group_kernel<Group, Real> {};
template <class Op, class Real>
requires(
    counting_operator<Op>) struct scheduled_kernel<expression::call_expression<Op>, true, Real> {
  static void run(const program_view& p, float* const* a, const argument_info* info,
                  const group_info& g, const run_context& c) {
    count<Op>(call_context(p, a, info, g, c));
  }
  static constexpr bool convolves = false;
  static constexpr scratch_function scratch = nullptr;
};

/// The schedule of program P as a constant table of its groups, with the layout and memory slot of
/// each argument.
template <class P>
struct schedule_table {
  using plan_type = plan<P>;
  static constexpr int groups = plan_type::groups;
  static constexpr int arguments = plan_type::code.count.arguments;
  static constexpr const auto& program = call_program<P>::view;

  struct functions {
    group_function run[bound(plan_type::kernels)];
    scratch_function scratch[bound(plan_type::kernels)];
  };
  /// Whether group g calls a pointwise operator on single integers and booleans.
  static constexpr bool counts(int g) {
    const group_desc& d = plan_type::grouped.groups[g];
    const instruction& i = plan_type::lowered.instructions[plan_type::grouped.order[d.first]];
    if (d.head != fusion_anchor::call || i.schema->kind != operator_kind::pointwise) return false;
    const group_code& c = plan_type::code.groups[g];
    for (int a = c.arguments; a < c.arguments + c.argument_count; ++a) {
      const argument_info n = argument_info_of<plan_type>(a, 1);
      if (n.rows != 1 || n.columns != 1 || (n.type != dtype::int64 && n.type != dtype::boolean))
        return false;
    }
    const operator_desc* const op = i.op < 0 ? nullptr : &P::desc.operators[i.op];
    const bool has_own = !is_null(op) && op->attributes >= 0 && same_address(op->schema, i.schema);
    for (int s = 0; s < i.schema->scalars; ++s) {
      const double x =
          has_own ? P::desc.attributes[op->attributes + s].number : i.schema->attributes[s].number;
      if (static_cast<double>(static_cast<std::int64_t>(x)) != x) return false;
    }
    return true;
  }
  /// One flag per kernel: whether counts() is true for all groups of the kernel.
  struct kernel_flags {
    bool of[bound(plan_type::kernels)];
  };
  static constexpr kernel_flags counting = [] {
    kernel_flags r{};
    for (bool& f : r.of) f = true;
    for (int g = 0; g < groups; ++g) {
      bool& f = r.of[plan_type::distinct.kernel[g]];
      f = f && counts(g);
    }
    return r;
  }();

  /// One flag per kernel, for a program in double: whether a group of the kernel has arrays of
  /// doubles.
  static constexpr kernel_flags in_double = [] {
    kernel_flags r{};
    for (int g = 0; !computes_in_float<P> && g < groups; ++g) {
      const group_code& c = plan_type::code.groups[g];
      for (int a = c.arguments; a < c.arguments + c.argument_count; ++a)
        if (argument_info_of<plan_type>(a, 1).type == dtype::float64)
          r.of[plan_type::distinct.kernel[g]] = true;
    }
    return r;
  }();

  template <int K>
  using kernel =
      scheduled_kernel<expression::group_of<plan_type, plan_type::distinct.first[K]>,
                       counting.of[K], std::conditional_t<in_double.of[K], double, float>>;
  /// The operator that kernel K calls, and whether it supports double; void if it calls none.
  template <class Group>
  struct called_operator {
    using type = void;
    static constexpr bool in_double = true;
  };
  template <class Op>
  struct called_operator<expression::call_expression<Op>> {
    using type = Op;
    static constexpr bool in_double = computes_in_double<Op>();
  };
  template <int K, bool = (K >= 0)>
  struct called : called_operator<void> {};
  template <int K>
  struct called<K, true>
      : called_operator<expression::group_of<plan_type, plan_type::distinct.first[K]>> {};
  /// The first kernel of a program in double that must compute in double but does not support it,
  /// or -1.
  static constexpr int in_float_alone = []<int... K>(std::integer_sequence<int, K...>) {
    if constexpr (!computes_in_float<P>) {
      // This is an array and not a fold expression, because clang folds at most 256 operands.
      const bool can[] = {called<K>::in_double..., true};
      for (int k = 0; k < plan_type::kernels; ++k)
        if (in_double.of[k] && !can[k]) return k;
    }
    return -1;
  }
  (std::make_integer_sequence<int, plan_type::kernels>{});

  template <int... K>
  static constexpr functions make_functions(std::integer_sequence<int, K...>) {
    return {{&kernel<K>::run...}, {scratch_of<kernel<K>>()...}};
  }
  template <class Kernel>
  static constexpr scratch_function scratch_of() {
    return Kernel::scratch;
  }

  /// The special convolution algorithms of this program; null if no kernel convolves.
  static constexpr const conv_methods* convolutions() {
    return find_convolutions(std::make_integer_sequence<int, plan_type::kernels>{});
  }
  template <int... K>
  static constexpr const conv_methods* find_convolutions(std::integer_sequence<int, K...>) {
    if constexpr ((kernel<K>::convolves || ... || false))
      return &conv_methods_of<P>;
    else
      return nullptr;
  }

  /// Whether one of these algorithms transforms filters. Then it saves time to keep the transformed
  /// filters from run to run.
  static constexpr bool transforms_filters() {
    if constexpr (convolutions() != nullptr)
      return convolutions()->forward[0].run != nullptr || convolutions()->forward[1].run != nullptr;
    else
      return false;
  }

  /// Whether all results of group g are parts of its operand that need no copy.
  static constexpr bool only_divides(const instruction& i) {
    if (i.head != fusion_anchor::call || i.schema->facts.divides < 0) return false;
    for (int o = i.outputs; o < i.outputs + i.output_count; ++o)
      if (plan_type::lowered.results[o] < 0 ||
          !plan_type::same.shares(plan_type::lowered.results[o]))
        return false;
    return true;
  }
  /// The function of a group that has nothing to compute.
  static void run_nothing(const program_view&, float* const*, const argument_info*,
                          const group_info&, const run_context&) {}

  struct table_type {
    schedule_entry entries[bound(groups)];
    argument_info info[bound(arguments)];
    memory_slot slot_of[bound(arguments)];
  };

  static constexpr table_type make() {
    constexpr functions f = make_functions(std::make_integer_sequence<int, plan_type::kernels>{});
    table_type t{};
    int blocks_run = 0;
    // By variable: whether the latest product with it as the right operand began at its end.
    bool turned[bound(plan_type::lowered.count.variables)]{};
    for (int g = 0; g < groups; ++g) {
      const group_desc d = plan_type::grouped.groups[g];
      const group_code c = plan_type::code.groups[g];
      const instruction i = plan_type::lowered.instructions[plan_type::grouped.order[d.first]];
      const int kernel = plan_type::distinct.kernel[g];
      const int parts = parts_of_rows(d.rows < 0 ? d.rows : d.depth);
      t.entries[g] = {f.run[kernel],
                      f.scratch[kernel],
                      c.arguments,
                      {d.rows, d.columns, d.depth, d.panel, false, c.argument_count, i.schema->bare,
                       call_program<P>::called_by(i)},
                      d.feeds};
      if (only_divides(i)) t.entries[g].run = &run_nothing;
      // A product begins where the product with the same weights before it has ended, so that it
      // finds some of them in the cache.
      if (d.head == fusion_anchor::gemm && plan_type::blocks == 1)
        if (const int w = plan_type::code.arguments[c.arguments + 1]; w >= 0)
          t.entries[g].group.turns = turned[w], turned[w] = !turned[w];
      if (i.runs >= 0) t.entries[g].run = nullptr, t.entries[g].group.rows = blocks_run++;
      for (int a = c.arguments; a < c.arguments + c.argument_count; ++a) {
        t.slot_of[a] = slot_of_argument<plan_type>(a);
        t.info[a] = argument_info_of<plan_type>(a, parts);
      }
    }
    return t;
  }
  static constexpr table_type table = make();
};

}}}  // namespace lamina::engine::cpu
