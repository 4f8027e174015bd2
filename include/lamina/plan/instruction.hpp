// SPDX-License-Identifier: Apache-2.0
// lamina/plan/instruction.hpp - instructions, to which operators are lowered before they are
// grouped.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/plan/real_type.hpp>
#include <lamina/program/program_desc.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The head of a fused group: the kind of loop nest that computes the group's first values and in
/// which its statements run.
enum class fusion_anchor : std::uint8_t {
  pointwise,    // one element at each position of the result
  gemm,         // X[M,K] * W[K,N]
  gemm_dx,      // dY[M,N] * W[K,N]^T
  gemm_dw,      // X[M,K]^T * dY[M,N]
  reduce_rows,  // sum over the rows of X[M,N]
  conv,         // products of the windows of images and filters
  conv_dx,      // the gradient of a convolution's input
  call          // a call of an operator's own kernel, without fused statements
};

/// Whether the kernel of a group with this head reads attributes of the instruction's operator.
constexpr bool asks_operator(fusion_anchor head) {
  return head == fusion_anchor::call || head == fusion_anchor::conv ||
         head == fusion_anchor::conv_dx;
}

/// How an operand is read at a position (row, column) of a group.
enum class access : std::uint8_t {
  load,     // the element at the same position
  row,      // the operand has one row; the element in the same column
  column,   // the operand has one column; the element in the same row
  channel,  // the element for the channel (dimension 1) of the position
  scalar,   // the operand has one element, or is a constant
  numbers   // several consecutive constants, the scalar arguments of an update
};

/// An operand: a plan variable, or a constant if `id` is below -1, and how it is read.
struct operand {
  int id;
  access how;
};

/// If the number of rows is known only at run time, `rows` is negative. The lowest 12 bits of its
/// absolute value are the number of the row domain. The higher bits are n - 1 if a matrix product
/// splits each row of the domain into n rows (docs/architecture.md, "Plan").
inline constexpr int domain_bits = 12;
static_assert(program_limits.domains <= 1 << domain_bits);
constexpr int domain_of_rows(int rows) { return rows < 0 ? -rows & ((1 << domain_bits) - 1) : 0; }
constexpr int parts_of_rows(int rows) { return rows < 0 ? 1 + (-rows >> domain_bits) : 1; }
constexpr int rows_in_parts(int rows, int parts) {
  return rows < 0 ? rows - (parts - 1) * (1 << domain_bits) : rows * parts;
}
/// Returns the index of the constant 1 / (number of rows of the domain). These are the first
/// constants of a plan, one per domain, beginning with the batch.
constexpr int inverse_rows(int domain) { return domain - 1; }
constexpr int constant_operand(int index) { return -2 - index; }
constexpr bool is_constant(int variable) { return variable < -1; }
constexpr int constant_index(int variable) { return -2 - variable; }

/// A variable as the plan sees it: a matrix of `rows` by `columns`. A negative `rows` stands for
/// the number of rows of a domain, as described above.
struct plan_variable {
  int rows, columns;
  dtype type;
  bool panel;                // it has the engine's panel layout
  int variable;              // its number in the program; -1: added by the plan
  int root;                  // the variable whose memory it shares, or its own number
  int block;                 // the block whose iterations compute it
  int parts;                 // number of rows of a product into which each row is split
  unsigned long long feeds;  // bit mask of the data that it depends on
};

/// A shape as rows and columns. The rows are the leading dimension of a batch or of a matrix.
struct matrix_shape {
  int rows, columns;
};
/// Returns the shape of a variable as a matrix. `dims` is the pool of dimensions, an array or a
/// pointer to its first element.
template <class Pool>
constexpr matrix_shape matrix_of(const variable_desc& d, const Pool& dims) {
  const bool many = d.rows != 0;
  const int skipped = many || d.rank > 1 ? 1 : 0;
  int columns = 1;
  for (int i = skipped; i < d.rank; ++i) columns *= dims[d.dims + i];
  return {many ? -d.rows : skipped != 0 ? dims[d.dims] : 1, columns};
}

/// Whether a parameter is stored in panels. All two-dimensional parameters of real numbers are. The
/// layout must not depend on the operators that read a parameter, because several programs may
/// share it.
constexpr bool is_weight(const variable_desc& d) {
  return d.kind == variable_kind::parameter && d.rank == 2 && is_real(d.type);
}

/// A step of the lowered program.
struct instruction {
  fusion_anchor head;
  const operator_schema* schema;  // the operator whose function or kernel it uses
  int output;                     // the output that its function computes
  int op;                         // number of the operator that it comes from
  int inputs, input_count;        // range of its operands
  int outputs, output_count;      // range of its results
  int rows, columns, depth;       // sizes of the head's loop nest; for a convolution, depth is the
                                  // position of its result's shape in the pool of dimensions
  bool panel;
  int block;                 // the block that contains it
  int runs;                  // the block that it runs, or -1; the operands and results are then the
                             // outer variables that this block reads and writes
  unsigned long long feeds;  // bit mask of the data that it depends on
};

/// The number of used elements of each array of a lowered program; also the upper bounds of these
/// numbers.
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
  int gradients[lowered_limits.parameters];  // by parameter: its complete gradient, or -1
};

/// The first step of lowering: makes a plan variable from every variable of a program.
template <class P>
constexpr lowered_program shapes_of() {
  constexpr const program_desc& p = P::desc;
  lowered_program r{};
  r.count.variables = p.count.variables;
  r.count.parameters = p.count.parameters;
  for (int i = 0; i < p.count.parameters; ++i) r.gradients[i] = -1;
  // Gradients of parameters in inner blocks do not count as complete, because each belongs to one
  // iteration only.
  const int cost = p.cost >= 0 ? p.cost : 0;  // clang 14 warns about element -1
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

}}  // namespace lamina
