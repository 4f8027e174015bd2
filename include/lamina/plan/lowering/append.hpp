// SPDX-License-Identifier: Apache-2.0
// lamina/plan/lowering/append.hpp - appends instructions, and variables that only the plan has.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/plan/lowering/lowering_state.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace lowering {

/// Adds a plan variable of real numbers and returns it. `variable` is a program variable with the
/// same shape, or -1.
constexpr int temporary(lowering_state& s, int rows, int columns, bool panel, int variable) {
  const int v = s.variables.count;
  return s.variables.push({rows, columns, s.real, panel, variable, v, s.block, 1, 0ull});
}
constexpr int constant(lowering_state& s, double value) {
  return constant_operand(s.constants.push(value));
}

/// Begins an instruction for operator `op`. The caller then appends its operands and results.
constexpr instruction begin(const lowering_state& s, fusion_anchor head,
                            const operator_schema& schema, int output, int op) {
  return {head,  &schema, output, op,  s.operands.count, 0, s.results.count, 0, 1, 1, 0,
          false, s.block, -1,     0ull};
}
/// use() appends an operand, and result() a result, of the instruction that began last; end()
/// counts operands and results.
constexpr void use(lowering_state& s, int v, access how) {
  s.operands.items[s.operands.count++] = {v, how};
}
constexpr void result(lowering_state& s, int v) { s.results.items[s.results.count++] = v; }

/// Adds the feeds of an instruction's operands to the feeds of the instruction and of its results.
/// By these masks a run with only some of the feeds finds the instructions that it can compute.
constexpr void spread_feeds(lowering_state& s, instruction& i) {
  for (int a = i.inputs; a < s.operands.count; ++a)
    if (s.operands.items[a].id >= 0) i.feeds |= s.variables.items[s.operands.items[a].id].feeds;
  for (int r = i.outputs; r < s.results.count; ++r)
    if (s.results.items[r] >= 0) s.variables.items[s.results.items[r]].feeds |= i.feeds;
}
constexpr void end(lowering_state& s, instruction& i) {
  i.input_count = s.operands.count - i.inputs;
  i.output_count = s.results.count - i.outputs;
  if (s.program.is_test) spread_feeds(s, i);
  s.instructions.items[s.instructions.count++] = i;
}

/// Appends the call of an operator that only plans contain. Its kernel gets the attributes of
/// operator k of the program.
template <std::size_t In, std::size_t Out>
constexpr void emit_call(lowering_state& s, const operator_schema& schema, const int (&in)[In],
                         const int (&out)[Out], int k) {
  instruction i = begin(s, fusion_anchor::call, schema, 0, k);
  for (int v : in) use(s, v, access::load);
  for (int v : out) result(s, v);
  end(s, i);
}

}}}  // namespace lamina::lowering
