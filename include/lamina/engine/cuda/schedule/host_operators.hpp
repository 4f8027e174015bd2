// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/schedule/host_operators.hpp - the operators that the host computes, or reads
// operands of, when a program runs on a device.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/plan/plan.hpp>

namespace lamina::inline LAMINA_ABI::engine::cuda {

/// Whether a kernel reads operand `n` on the host if the host has it: a condition of rows, the
/// index of a slot or of a step, a rank table.
constexpr bool is_taken_by_host(const operator_schema* schema, int n) {
  return n < 32 && (schema->facts.host_inputs >> n & 1u) != 0;
}
/// Whether the host computes an operator if all inputs are host values or there are none. The
/// result is sent if the device needs it.
constexpr bool may_be_of_host(const operator_schema* schema) {
  return schema->facts.host != host_rule::never || schema->kind == operator_kind::pointwise;
}
/// Whether an operator makes a rank table.
constexpr bool makes_ranks(const operator_schema* schema) {
  return schema->facts.origin == row_origin::ranks;
}

/// The first result of an instruction that is a host number, if it makes any. The results before
/// it, a list, are data that it reads.
constexpr int first_number(const instruction& i) {
  return i.schema->facts.reads_minibatch ? i.outputs + i.output_count - 1 : i.outputs;
}

}  // namespace lamina::inline LAMINA_ABI::engine::cuda
