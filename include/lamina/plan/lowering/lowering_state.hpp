// SPDX-License-Identifier: Apache-2.0
// lamina/plan/lowering/lowering_state.hpp - the state of lowering, which the functions of namespace
// lowering read and change.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/compile_time/constexpr_vector.hpp>
#include <lamina/core/compile_time/fixed_buffer.hpp>
#include <lamina/plan/instruction.hpp>
#include <lamina/plan/lowering/variable_uses.hpp>
#include <lamina/plan/real_type.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The windows of the input that a sequence_conv multiplies by its filter. Another sequence_conv
/// with the same input and window can reuse this variable (operators/sequence/conv/lowering.hpp).
struct sequence_window {
  int x, padding, length, start;
  int made;  // the variable that holds the windows
};

/// The Factor of a batch_norm whose batch_norm_factor is appended before the operator itself is
/// lowered (operators/norm/batch_norm/lowering.hpp).
struct early_factor {
  int op, factor;
};

/// A convolution whose result is pooled before the bias and the activation are applied
/// (operators/pool/pool2d/lowering.hpp). The struct holds the operators of this chain, or -1 for an
/// operator that the chain does not have, and its variables.
struct pooled_chain {
  int add, act, pool, pool_grad, act_grad;
  int image, bias;   // variables: the result of the convolution; the bias
  int largest;       // variable: the largest element of each window
  int grad, spread;  // the gradients of `largest` and of `image`
};

/// The gradient of a weight that is a sum over the iterations of a loop: the variable `sum`, and
/// the arrays that store the rows of both operands (plan/lowering/deferred_products.hpp).
struct deferred_sum {
  int sum, xs, ds;
};

/// An update whose scalar arguments are computed by operators, and the variable `made` that holds
/// them (operators/update/lowering.hpp).
struct made_numbers {
  int update, made;
};

/// The state of the lowering of one program.
struct lowering_state {
  const program_desc& program;
  fixed_buffer<plan_variable, lowered_limits.variables> variables;
  fixed_buffer<instruction, lowered_limits.instructions> instructions;
  fixed_buffer<operand, lowered_limits.operands> operands;
  fixed_buffer<int, lowered_limits.results> results;
  fixed_buffer<double, lowered_limits.constants> constants;
  int (&gradient)[lowered_limits.parameters];  // by parameter: its complete gradient
  const bool has_blocks;
  const dtype real;        // the type of the program's real numbers
  int block = 0;           // block of the operator that is being lowered
  bool has_parts = false;  // whether a product splits its rows into parts
  int held_cost = -1;      // the operator of the cost if it is lowered last, else -1

  variable_uses uses;
  int copy_of[program_limits.variables];     // by variable: its copy in another layout, or -1
  int transposed[program_limits.variables];  // by weight: its transpose in panels, or -1

  constexpr_vector<sequence_window> windows;
  early_factor early{-1, -1};
  constexpr_vector<pooled_chain> chains;
  constexpr_vector<deferred_sum> deferred_sums;
  constexpr_vector<made_numbers> numbers;
  const operator_schema* with_defaults = nullptr;  // the schema of the latest update whose
                                                   // attributes are all defaults ...
  int defaults = 0;                                // ... and the index of its first constant

  /// Appends to `to`, which must be the result of shapes_of() for the program. shapes_of() is
  /// evaluated separately, because clang limits the steps of each constant evaluation.
  constexpr lowering_state(const program_desc& p, lowered_program& to)
      : program(p),
        variables(to.variables, to.count.variables),
        instructions(to.instructions, to.count.instructions),
        operands(to.operands, to.count.operands),
        results(to.results, to.count.results),
        constants(to.constants, to.count.constants),
        gradient(to.gradients),
        has_blocks(p.count.blocks > 1),
        real(real_type(p)) {
    for (int d = batch::domain; d < p.count.domains; ++d) constants.push(0.0);
    const int count = p.count.variables;
    for (int v = 0; v < count; ++v) copy_of[v] = -1;
    if (!has_blocks) return;
    for (int v = 0; v < count; ++v) transposed[v] = -1;
    lowering::find_uses(p, uses);
  }
  lowering_state(const lowering_state&) = delete;
};

namespace lowering {

constexpr int argument(const lowering_state& s, int at) { return s.program.arguments[at]; }
constexpr double attribute(const lowering_state& s, const operator_desc& op, int i) {
  return op.attributes >= 0 ? s.program.attributes[op.attributes + i].number
                            : op.schema->attributes[i].number;
}
/// Returns the variable whose memory variable v shares, or v itself if it does not share memory.
constexpr int root(const lowering_state& s, int v) { return s.variables.items[v].root; }
constexpr bool is_feed(const lowering_state& s, int v) {
  return v < s.program.count.variables && s.program.variables[v].kind == variable_kind::data;
}
/// Whether variable v takes more than one value in a run.
constexpr bool changes(const lowering_state& s, int v) {
  return s.has_blocks && v < s.program.count.variables && s.uses.changed[v];
}
/// Whether `made`, an earlier copy of program variable v, is still equal to v in the current block.
constexpr bool is_known(const lowering_state& s, int made, int v) {
  const int from = s.variables.items[made].block;
  return from == s.block || (is_inside(s.program, s.block, from) && !changes(s, v));
}

}  // namespace lowering

}}  // namespace lamina
