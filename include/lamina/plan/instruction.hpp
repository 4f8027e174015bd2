// SPDX-License-Identifier: Apache-2.0
// lamina/plan/instruction.hpp - what operators are lowered to, before they are grouped.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/plan/real_type.hpp>
#include <lamina/program/program_desc.hpp>

namespace lamina::inline LAMINA_ABI {

/// How a fused group begins: the loop nest that its statements run in.
enum class group_head : std::uint8_t {
  pointwise,    // one value per position
  gemm,         // X[M,K] * W[K,N]
  gemm_dx,      // dY[M,N] * W[K,N]^T
  gemm_dw,      // X[M,K]^T * dY[M,N]
  reduce_rows,  // sum over the rows of X[M,N]
  conv,         // the windows of images times filters
  conv_dx,      // spreads filters over images: the gradient of a convolution's input
  call          // a kernel of its own, without statements
};

/// Whether the kernel of a head reads the attributes of the instruction's operator.
constexpr bool asks_operator(group_head head) {
  return head == group_head::call || head == group_head::conv || head == group_head::conv_dx;
}

/// How an operand is read at a position (row, column) of a group.
enum class access : std::uint8_t {
  load,     // its element at the same position
  row,      // the element of its only row, in the same column
  column,   // the element of its only column, in the same row
  channel,  // its element for the channel (dimension 1) of the position
  scalar,   // its only element; constants too
  numbers   // consecutive constants, one for each attribute of an update
};

/// An operand: a plan variable and how it is read. Constants are variables below zero.
struct operand {
  int id;
  access how;
};

/// Rows that are known only when a program runs: minus the number of their domain, and minus 2^12
/// for each further row of a group that a row of the domain holds (docs/architecture.md, "Plan").
inline constexpr int domain_bits = 12;
static_assert(program_limits.domains <= 1 << domain_bits);
constexpr int domain_of_rows(int rows) { return rows < 0 ? -rows & ((1 << domain_bits) - 1) : 0; }
constexpr int parts_of_rows(int rows) { return rows < 0 ? 1 + (-rows >> domain_bits) : 1; }
constexpr int rows_in_parts(int rows, int parts) {
  return rows < 0 ? rows - (parts - 1) * (1 << domain_bits) : rows * parts;
}
/// The first constants are one over the rows of each domain, from the batch on.
constexpr int inverse_rows(int domain) { return domain - 1; }
constexpr int constant_operand(int index) { return -2 - index; }
constexpr bool is_constant(int variable) { return variable < -1; }
constexpr int constant_index(int variable) { return -2 - variable; }

/// A variable as the plan sees it: a matrix of `rows` (below zero: of a domain) by `columns`.
struct plan_variable {
  int rows, columns;
  dtype type;
  bool panel;                // in the engine's panel layout
  int variable;              // of the program; -1: made by the plan
  int root;                  // the variable whose memory it is; itself, if not an alias
  int block;                 // whose iterations it belongs to
  int parts;                 // rows of a group that each of its rows is: matrices side by side
  unsigned long long feeds;  // which data it depends on, one bit each
};

/// A shape as rows and columns: the leading dimension of a batch or of a matrix are its rows.
struct matrix_shape {
  int rows, columns;
};
/// `dims` is the pool of dimensions: an array, or a pointer to its first.
template <class Pool>
constexpr matrix_shape matrix_of(const variable_desc& d, const Pool& dims) {
  const bool many = d.rows != 0;
  const int skipped = many || d.rank > 1 ? 1 : 0;
  int columns = 1;
  for (int i = skipped; i < d.rank; ++i) columns *= dims[d.dims + i];
  return {many ? -d.rows : skipped != 0 ? dims[d.dims] : 1, columns};
}

/// Two-dimensional parameters of real numbers lie in panels, whichever operators read them: the
/// layout of a parameter must not depend on the program that shares it.
constexpr bool is_weight(const variable_desc& d) {
  return d.kind == variable_kind::parameter && d.rank == 2 && is_real(d.type);
}

/// A step of the lowered program.
struct instruction {
  group_head head;
  const operator_schema* schema;  // whose function, or whose kernel
  int output;                     // which output's function
  int op;                         // the operator it comes from
  int inputs, input_count;        // into the operands
  int outputs, output_count;      // into the results
  int rows, columns, depth;       // of the head; of a convolution, depth is where the dimensions
                                  // of its result begin
  bool panel;
  int block;                 // that it belongs to
  int runs;                  // the block that it runs, or -1: its operands and results are then
                             // what the instructions inside read and write of other blocks
  unsigned long long feeds;  // which data it depends on, one bit each
};

/// The number of used elements of each array of a lowered program, and the upper bounds.
struct lowered_counts {
  int variables, instructions, operands, results, constants, parameters;
};
inline constexpr lowered_counts lowered_limits{
    2 * program_limits.variables, 2 * program_limits.operators, 2 * program_limits.arguments,
    program_limits.arguments,     program_limits.attributes,    program_limits.parameters};

/// The lowered program as a value. Like program_desc, it has capacity for the largest program and
/// exists during compilation only.
struct lowered_program {
  lowered_counts count;
  plan_variable variables[lowered_limits.variables];
  instruction instructions[lowered_limits.instructions];
  operand operands[lowered_limits.operands];
  int results[lowered_limits.results];
  double constants[lowered_limits.constants];
  int gradients[lowered_limits.parameters];  // by parameter: its whole gradient, or -1
};

/// The start of lowering: every variable of a program as a plan variable.
template <class P>
constexpr lowered_program shapes_of() {
  constexpr const program_desc& p = P::desc;
  lowered_program r{};
  r.count.variables = p.count.variables;
  r.count.parameters = p.count.parameters;
  for (int i = 0; i < p.count.parameters; ++i) r.gradients[i] = -1;
  // Inner blocks have gradients of parameters too, but only of one iteration.
  const int cost = p.cost >= 0 ? p.cost : 0;  // clang 14 warns of an element -1, even if not read
  const int root_block = p.cost >= 0 ? p.variables[cost].block : 0;
  for (int v = 0; v < p.count.variables; ++v) {
    const variable_desc d = p.variables[v];
    const matrix_shape m = matrix_of(d, p.dims);
    const bool derived = d.kind == variable_kind::accumulator || d.kind == variable_kind::gradient;
    r.variables[v] = {m.rows,
                      m.columns,
                      d.type,
                      is_weight(derived ? p.variables[d.of] : d),
                      v,
                      v,
                      d.block,
                      1,
                      d.kind == variable_kind::data ? 1ull << (d.index & 63) : 0ull};
    if (d.kind == variable_kind::gradient && d.number < 0 && d.block == root_block &&
        p.variables[d.of].kind == variable_kind::parameter)
      r.gradients[p.variables[d.of].index] = v;
  }
  return r;
}

}  // namespace lamina::inline LAMINA_ABI
