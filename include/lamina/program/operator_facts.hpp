// SPDX-License-Identifier: Apache-2.0
// lamina/program/operator_facts.hpp - the facts about an operator that plans, engines and readers
// of programs use. Only the operator's definition states them (operators/operator_definition.hpp).
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

namespace lamina::inline LAMINA_ABI {

/// How the rows of an operator's results follow from those of its operands. An engine may thus give
/// the operator's kernel a part of the rows: for several threads, or tile by tile.
enum class row_rule : std::uint8_t {
  mixed,        // a row may depend on other rows
  independent,  // a row depends on the same row of the operands, and on operands without rows
  paired,       // the same where every operand has rows; otherwise as `mixed`
  summed        // a sum over all rows, which the kernel computes in parts (engine::shared_sums)
};

/// The origin of the rows of the results. It matters where a program makes rows of one type more
/// than once (program/row_renaming.hpp).
enum class row_origin : std::uint8_t {
  operands,        // those of the operands, or rows that follow from them
  second_operand,  // those of the second operand where it has rows of this type, else new ones
  handed_over,     // those of the operand, which become those of the variable that is written
  array_slot,      // those that were written to an array at the index, the second operand
  ranked,          // those of the sequences that the rank table among the operands was made of
  ranks            // none: the result is the rank table of the sequences of the operand
};

/// How a result that is one number depends on operands that are one number, or that the operator
/// reduces to one.
enum class linearity : std::uint8_t {
  unknown,
  nonlinear,  // not linear, and nothing else is unknown: a root, a power
  linear,     // a sum of the operands with constant factors
  product,    // of two operands, linear in each
  quotient    // of the first operand by the second
};

/// How an operator reduces many rows to one.
enum class row_reduction : std::uint8_t { none, sum, mean };

/// The products that an operator with its own kernel computes; the count of its work uses them.
enum class product_rule : std::uint8_t {
  none,
  convolution,             // Output and Filter, the second operand, as those of conv2d
  transposed_convolution,  // Input and Filter, as those of conv2d_transpose
  mul,                     // of X and the matrix that Y is, as those of mul
  matmul,                  // of batches of matrices, as those of matmul
  recurrent,               // of each row with Weight, and with ProjWeight where there is one
  sequence_filter          // of each row and those around it with Filter, as those of sequence_conv
};

/// How an operator runs the block in its first attribute.
enum class block_rule : std::uint8_t {
  none,    // it runs no block
  branch,  // if a condition holds
  branch_gradient,
  loop,          // while a condition holds
  loop_gradient  // once for each iteration of the loop, the last one first; it has no condition
};

/// When the host computes an operator of a program that runs on a device.
enum class host_rule : std::uint8_t {
  never,   // never, except for pointwise operators, which follow `inputs`
  inputs,  // where the host has the values of all inputs; this includes an operator without inputs
  always   // the host knows the result without the values of the inputs
};

/// All facts of an operator, as its schema holds them.
struct operator_facts {
  row_rule rows;
  row_origin origin;
  std::int8_t made_levels;     // levels of the rows of the results that are new; 0: none
  bool accepts_any_rows;       // operands of one type may have different rows
  std::uint32_t apart_inputs;  // bit i: the results have no rows of the i-th operand
  std::int8_t alias;           // the operand whose elements the first result has; -1: none
  bool alias_permutes;         // it may have them in another order
  linearity linear;
  row_reduction reduces;
  product_rule products;
  bool broadcasts;  // joins operands element by element, and repeats a number for all rows
  bool random;      // draws random numbers
  block_rule block;
  bool reads_minibatch;  // makes the data of the next mini-batch, and whether more follow
  host_rule host;
  bool host_takes_part;       // the host does a part of it in each run
  bool host_waits;            // the host waits for its result: the number of rows
  std::uint32_t host_inputs;  // bit i: the kernel reads the i-th operand on the host if present
};

}  // namespace lamina::inline LAMINA_ABI
