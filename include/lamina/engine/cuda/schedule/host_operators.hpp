// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/schedule/host_operators.hpp - which operators the host has a part in, where a
// program runs at a place.
#pragma once

#include <lamina/operators/fill/definition.hpp>
#include <lamina/operators/control/print/definition.hpp>
#include <lamina/operators/control/rank_table/definition.hpp>
#include <lamina/operators/control/read_minibatch/definition.hpp>
#include <lamina/operators/control/split_merge/definition.hpp>
#include <lamina/optimizer/step_operators.hpp>
#include <lamina/plan/plan.hpp>

namespace lamina::engine::cuda {

/// Whether a kernel takes input `slot` from the host, if that has it: a condition of rows, the
/// number of a slot or of a step, a rank table.
constexpr bool is_taken_by_host(const operator_schema* schema, int slot) {
  if (schema == &schema_of<write_to_array>() || schema == &schema_of<read_from_array>() ||
      schema == &schema_of<write_to_array_gradient>() ||
      schema == &schema_of<lod_tensor_to_array>() || schema == &schema_of<array_to_lod_tensor>() ||
      schema == &schema_of<reorder_lod_tensor_by_rank>() || schema == &schema_of<last_rnn_memory>())
    return slot == 1;
  if (schema == &schema_of<read_from_array_gradient>() ||
      schema == &schema_of<gradient_of<reorder_lod_tensor_by_rank>>() ||
      schema == &schema_of<last_rnn_memory_gradient>())
    return slot == 0;
  return schema == &schema_of<shrink_rnn_memory>() && slot >= 1;
}
/// Whether it waits for them if the host has them not, where it does not fail.
constexpr bool waits_for_rows(const operator_schema* schema) {
  return schema == &schema_of<split_lod_tensor>();
}

/// Operators that the host does a part of each time: nothing stands for that in a graph.
constexpr bool is_done_with_host(const operator_schema* schema) {
  return schema == &schema_of<print>() || schema == &schema_of<read_minibatch>() ||
         schema == &schema_of<decayed_learning_rate>();
}

/// Operators that the host alone computes; what it found is sent where it is not the only one to
/// compute the result.
constexpr bool is_of_host(const operator_schema* schema) {
  return schema == &schema_of<read_minibatch>() || schema == &schema_of<lod_rank_table>() ||
         schema == &schema_of<max_sequence_len>() || schema == &schema_of<lod_array_length>();
}
/// Those that it computes where their inputs are its own.
constexpr bool may_be_of_host(const operator_schema* schema) {
  return is_of_host(schema) || schema->kind == operator_kind::pointwise ||
         schema == &schema_of<fill_constant>();
}

/// The first result of an instruction that is a number of the host, if it makes any: those before
/// it are data that it reads.
constexpr int first_number(const instruction& i) {
  return i.schema == &schema_of<read_minibatch>() ? i.outputs + i.output_count - 1 : i.outputs;
}

}  // namespace lamina::engine::cuda
