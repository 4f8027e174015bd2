// SPDX-License-Identifier: Apache-2.0
// lamina/plan/lowering.hpp - lowers the operators of a program to instructions.
//
// Each operator of a program becomes a matrix product, a reduction, a pointwise function with the
// access of each operand, or a call of the operator's own kernel. Lowering also adds copies where a
// kernel needs another layout (of feeds with unpadded rows, and of weights in panels), so that
// later passes and kernels need to support one layout only.
//
// The state is one struct (plan/lowering/lowering_state.hpp). Each function of namespace lowering
// lowers one kind of operator and appends the instructions.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/control/block/lowering.hpp>
#include <lamina/operators/control/rank_table/lowering.hpp>
#include <lamina/operators/conv/lowering.hpp>
#include <lamina/operators/elementwise/assign/lowering.hpp>
#include <lamina/operators/matrix/mul/lowering.hpp>
#include <lamina/operators/norm/batch_norm/lowering.hpp>
#include <lamina/operators/pool/pool2d/lowering.hpp>
#include <lamina/operators/reduce/dimensions/lowering.hpp>
#include <lamina/operators/sequence/conv/lowering.hpp>
#include <lamina/operators/update/lowering.hpp>
#include <lamina/plan/lowering/call.hpp>
#include <lamina/plan/lowering/pointwise.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace lowering {

/// Lowers an operator that has its own kernel to faster instructions, if its family of operators
/// provides them. Returns false if it does not; the caller must then call the kernel.
constexpr bool lower_special(lowering_state& s, const operator_desc& op, int k) {
  find_pooled_chain(s, op, k);
  return lower_mean(s, op, k) || lower_window_product(s, op, k) || lower_convolution(s, op, k) ||
         lower_batch_norm(s, op, k) || share_shrunk_rows(s, op, k) || lower_store(s, op, k);
}

/// Lowers operator k of the program.
constexpr void lower(lowering_state& s, const operator_desc op, int k) {
  if (s.has_blocks && s.block != op.block) s.block = op.block;
  if (s.chains.count > 0 && lower_in_chain(s, op, k)) return;
  switch (op.schema->kind) {
    case operator_kind::source:
      return;
    case operator_kind::mul:
      if (!lower_mul(s, op, k)) lower_call(s, op, k);
      return;
    case operator_kind::mul_grad:
      if (!lower_mul_grad(s, op, k)) lower_call(s, op, k);
      return;
    case operator_kind::update:
      lower_update(s, op, k);
      return;
    case operator_kind::pointwise:
      if (!lower_assign(s, op, k) && !lower_pointwise(s, op, k)) lower_call(s, op, k);
      return;
    case operator_kind::call:
      if (s.has_blocks && sub_block_of(s.program, op) >= 0) return lower_block(s, op, k);
      if (lower_special(s, op, k)) return;
      lower_call(s, op, k);
      if (op.role == op_role::optimize) make_numbers_early(s, op, k);
      return;
  }
}

/// Lowers all operators of the program.
constexpr void lower_all(lowering_state& s) {
  const program_desc& p = s.program;
  const int operators = p.count.operators;
  for (int k = 0; k < operators; ++k) lower(s, p.operators[k], k);
  s.block = 0;
  if (s.held_cost >= 0) lower_call(s, p.operators[s.held_cost], s.held_cost);
  // A gradient that no update of this program consumes has the layout of its weight, as the caller
  // of the program expects.
  for (int i = 0; i < p.count.parameters; ++i)
    if (const int v = s.gradient[i]; v >= 0 && s.variables.items[v].block == 0 &&
                                     is_weight(p.variables[p.parameters[i].variable]))
      s.gradient[i] = in_panels(s, v, -1);
}

}  // namespace lowering

/// Lowers program P, whose variables are in `Shapes`.
template <class P, const lowered_program& Shapes>
constexpr lowered_program lowered_from() {
  lowered_program r = Shapes;
  lowering_state state(P::desc, r);
  lowering::lower_all(state);
  return r;
}

}}  // namespace lamina
