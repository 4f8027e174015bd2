// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/schedule/host_operators.hpp - when a program runs on a device: finds operators
// that the host computes, and operands that it reads.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/plan/plan.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// Whether the host code of a kernel reads operand `n`, preferably from host memory. Such an
/// operand is a condition that selects rows, the index of an array slot or a time step, or a rank
/// table.
constexpr bool is_taken_by_host(const operator_schema* schema, int n) {
  return n < 32 && (schema->facts.host_inputs >> n & 1u) != 0;
}
/// Whether the host may compute an operator. It does so if all inputs are host values, or if there
/// are no inputs. The result is sent to the device if a kernel needs it.
constexpr bool may_be_of_host(const operator_schema* schema) {
  return schema->facts.host != host_rule::never || schema->kind == operator_kind::pointwise;
}
/// Whether an operator makes a rank table, which lists sequences by descending length.
constexpr bool makes_ranks(const operator_schema* schema) {
  return schema->facts.origin == row_origin::ranks;
}

/// Returns the position of an instruction's first result that may be a host number. In
/// read_minibatch the results before it are the data that it reads.
constexpr int first_number(const instruction& i) {
  return i.schema->facts.reads_minibatch ? i.outputs + i.output_count - 1 : i.outputs;
}

}}}  // namespace lamina::engine::cuda
