// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/transpile/division_faults.hpp - finds the reasons for which a training program
// cannot be divided over processes.
#pragma once

#include <lamina/core/config.hpp>

#include <utility>

#include <lamina/core/messages/check.hpp>
#include <lamina/plan/parts_form.hpp>
#include <lamina/program/program.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Calls f(variable) for the arguments of `count` slots, which start at index `at`.
template <class F>
constexpr void each_argument(const program_desc& p, const slot_desc* slot_list, int count, int at,
                             const F& f) {
  for (int s = 0; s < count; ++s)
    for (int n = slot_list[s].duplicable ? p.arguments[at++] : 1; n > 0; --n, ++at)
      if (p.arguments[at] >= 0) f(p.arguments[at]);
}
/// Returns the operand with rows of `domain` of the mean or sum that computes a cost, in the block
/// of the cost or an enclosing one; -1 if there is none.
constexpr int rows_of_cost(const program_desc& p, int cost, int domain) {
  int found = -1;
  bool* const needed = new bool[static_cast<unsigned>(p.count.variables) + 1];
  for (int v = 0; v < p.count.variables; ++v) needed[v] = v == cost;
  for (int k = p.count.operators; k-- > 0 && found < 0;) {
    const operator_desc& op = p.operators[k];
    bool makes = false;
    each_argument(p, op.schema->outputs, op.schema->output_count, op.outputs,
                  [&](int v) { makes = makes || needed[v]; });
    if (!makes) continue;
    each_argument(p, op.schema->inputs, op.schema->input_count, op.inputs, [&](int v) {
      if (p.variables[v].rows == domain && found < 0) found = v;
      if (p.variables[v].rows == once::domain) needed[v] = true;
    });
  }
  delete[] needed;
  if (found < 0) return -1;
  int block = p.variables[cost].block;
  while (block >= 0 && block != p.variables[found].block) block = p.blocks[block].parent;
  return block < 0 ? -1 : found;
}

/// The reasons for which a program cannot be divided over processes.
struct division_faults {
  bool no_gradients = true, has_rows = false, cost = false, again = false;
  int op = -1;  // the operator that makes the cost indivisible, or -1
};
constexpr division_faults division_faults_of(const program_desc& p, int ranks) {
  division_faults f;
  for (int k = 0; k < p.count.operators; ++k) {
    const operator_desc& op = p.operators[k];
    if (op.role == op_role::optimize && op.schema->kind == operator_kind::update) {
      f.no_gradients = false;
      f.has_rows = f.has_rows ||
                   p.variables[p.arguments[op.inputs + 1]].kind == variable_kind::selected_rows;
    }
    f.again = f.again || (op.schema->facts.meets_processes && op.role == op_role::backward);
    if (op.role != op_role::loss_gradient || ranks > 0) continue;
    const int cost = p.variables[p.arguments[op.outputs]].of;
    const parts_form form = cost_form_of(p, cost);
    const quotient& q = form.quotient;
    const bool divides = q && q.denominator >= 0;
    // One weight per process suffices for one mean, and for a quotient without terms that count
    // only once in the sum over processes.
    const bool one_weight = divides ? !q.of_means && q.above_added == 0 && q.offset == 0
                                    : form.rule.is_sum || !form.rule.mixes;
    const bool counts = divides || form.rule.is_sum || rows_of_cost(p, cost, form.rule.domain) >= 0;
    if (f.cost || (form && one_weight && counts)) continue;
    f.cost = true;
    f.op = form ? q.op : form.op;
  }
  return f;
}

constexpr int length_of(const char* text) {
  int n = 0;
  while (text[n] != 0) ++n;
  return n;
}
/// Spells the type of operator Op of a program in an error message; empty for -1.
template <class P, int Op>
struct type_packets {
  static constexpr const char* of = P::desc.operators[Op < 0 ? 0 : Op].schema->type;
  template <int... Index>
  static auto packets(std::integer_sequence<int, Index...>) -> named<of[Index]...>;
  using type = decltype(packets(std::make_integer_sequence < int, Op<0 ? 0 : length_of(of)>{}));
};

}}}  // namespace lamina::detail
