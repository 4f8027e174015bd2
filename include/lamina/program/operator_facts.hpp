// SPDX-License-Identifier: Apache-2.0
// lamina/program/operator_facts.hpp - the facts about an operator that plans, engines and readers
// of programs use. Only the operator's definition states them (operators/operator_definition.hpp).
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

namespace lamina { inline namespace LAMINA_ABI {

/// How the rows of an operator's results depend on the rows of its operands. By this rule an engine
/// decides whether it may compute the rows in parts, by several threads or tile by tile.
enum class row_rule : std::uint8_t {
  mixed,        // a row may depend on other rows
  independent,  // row r depends only on row r of the operands, and on operands without rows
  paired,       // as `independent` if every operand has rows; otherwise as `mixed`
  summed        // a sum over all rows; the kernel adds up sums of parts of the rows
                // (engine::shared_sums)
};

/// How the rows of the results follow from the operands. row_renaming needs this if a program
/// computes rows of one type more than once (program/row_renaming.hpp).
enum class row_origin : std::uint8_t {
  operands,        // the rows of the operands, or rows that are computed from them
  second_operand,  // the second operand's rows if their type is the result's, else new rows
  handed_over,     // the rows of the operand, which the assigned variable takes over
  array_slot,      // the rows of the array's element at the index, which is the second operand
  ranked,          // the rows of the sequences from which the rank table was made
  ranks            // no rows: the result is the rank table of the operand's sequences
};

/// How a scalar result depends on the operands. Each operand is a scalar, or the operator reduces
/// it to a scalar.
enum class linearity : std::uint8_t {
  unknown,
  nonlinear,  // a known nonlinear function, such as a root or a power
  linear,     // a sum of the operands with constant factors
  product,    // a product of two operands, linear in each
  quotient    // the first operand divided by the second
};

/// How an operator reduces many rows to one.
enum class row_reduction : std::uint8_t {
  none,  // none of the following; it may be another function of all rows, such as the maximum
  sum,   // a sum over the rows, of any function of a row
  mean,  // a mean over the rows
  named  // the first attribute names it: "sum", "mean" or "batchmean" (a mean)
};

/// Whether a row of an operator's result depends on other rows of the mini-batch. If it does, the
/// row has a different value when only a part of the mini-batch is computed.
enum class row_meeting : std::uint8_t {
  never,             // a row depends at most on rows of the same sample
  always,            // yes, if an operand has rows
  along_dimension,   // yes, if the first attribute selects the row dimension of operand 0
  with_first_rows,   // yes, if operand 0 has rows; operand 1 selects some of them
  without_sequences  // yes, unless operand 1 has sequences
};

/// The matrix products that an operator with its own kernel computes. inspect counts
/// multiplications and additions by it.
enum class product_rule : std::uint8_t {
  none,
  convolution,             // Output and Filter (second operand) as in conv2d
  transposed_convolution,  // Input and Filter as in conv2d_transpose
  mul,                     // X times Y as a matrix, as in mul
  matmul,                  // batches of matrices, as in matmul
  recurrent,               // each row times Weight, and times ProjWeight if present
  sequence_filter          // each row and its neighbours times Filter, as in sequence_conv
};

/// How an operator runs the block in its first attribute.
enum class block_rule : std::uint8_t {
  none,    // it runs no block
  branch,  // runs the block if a condition holds
  branch_gradient,
  loop,          // runs the block while a condition holds
  loop_gradient  // runs the block once per iteration of the loop, the last iteration first
};

/// Whether an operator is computed on the host when a program runs on a device.
enum class host_rule : std::uint8_t {
  never,   // on the device; but pointwise operators follow `inputs`
  inputs,  // on the host if it has the values of all inputs, or if there are no inputs
  always   // on the host, which knows the result without the values of the inputs
};

/// All facts of an operator. The schema of the operator contains them.
struct operator_facts {
  row_rule rows;
  row_origin origin;
  std::int8_t made_levels;     // number of new sequence levels in the results' rows; 0: none
  bool accepts_any_rows;       // operands whose rows have one type may differ in their rows
  std::uint32_t apart_inputs;  // bit i: the rows of operand i may differ from the results' rows
  std::int8_t alias;           // the operand whose memory the first result shares, or -1
  bool alias_permutes;         // the shared elements may be in another order
  // If the results are consecutive parts of operand 0: the number of the attribute that has the
  // dimension along which it is divided. -1 for all other operators.
  std::int8_t divides;
  linearity linear;
  row_reduction reduces;
  std::uint32_t reduced_outputs;  // bit i: result i is reduced by `reduces`
  product_rule products;
  bool broadcasts;  // elementwise, and an operand with a single row is repeated for all rows
  bool random;      // draws random numbers
  block_rule block;
  bool reads_minibatch;  // returns the data of the next mini-batch, and whether more follow
  host_rule host;
  bool host_takes_part;       // a part of the operator is computed on the host in each run
  bool host_waits;            // the host waits for its result, which is a number of rows
  std::uint32_t host_inputs;  // bit i: the kernel reads operand i on the host, if it is there
  row_meeting meets_rows;
  // If operand 0 is a table from which operand 1 selects rows: the number of the attribute that
  // says whether the table is divided among processes. The next attribute is then the number of a
  // row that is never read (padding). -1 for all other operators.
  std::int8_t divided_by;
  bool meets_processes;  // its kernel makes a call in which all processes of a run must take part
};

}}  // namespace lamina
