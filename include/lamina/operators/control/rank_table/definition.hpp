// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/rank_table/definition.hpp - operators that process sequences of
// different lengths step by step.
//
// A rank table, int64 [sequences, 2], has one row per sequence: the index of the sequence in the
// batch, and its length. The longest sequence comes first; sequences of equal length keep their
// order. The position of a sequence in the table is its rank. Time step t has one row for each
// sequence that is longer than t, in the order of the table. So the sequences of step t + 1 are the
// first sequences of step t.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/control/array/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI {

inline constexpr std::array<slot_desc, 2> slots_x_table{{{"X"}, {"RankTable"}}};

}}  // namespace lamina

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = the rank table of the sequences of LoD level `level` of X; 0 is the outermost level. The
/// length of a sequence is the number of its sub-sequences in the next level or, in the last level,
/// the number of its rows. Fluid: lod_rank_table.
struct lod_rank_table : operator_definition {
  static constexpr const char* type = "lod_rank_table";
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"level", attribute_type::integer, 0}}};
  static constexpr auto origin = row_origin::ranks;
  static constexpr auto host = host_rule::always;
};

/// Out = the length of the longest sequence, int64 [1]; 0 if there are no sequences. Fluid:
/// max_sequence_len.
struct max_sequence_len : operator_definition {
  static constexpr const char* type = "max_sequence_len";
  static constexpr std::array<slot_desc, 1> inputs{{{"RankTable"}}};
  static constexpr auto outputs = slots_out;
  static constexpr auto host = host_rule::inputs;
};

/// Out[t] = the rows of time step t of X. If the sequences of the table consist of sub-sequences,
/// Out[t] has the t-th sub-sequence of each sequence instead. The gradient is an
/// array_to_lod_tensor or, for sub-sequences, a lod_tensor_to_array_grad. Fluid:
/// lod_tensor_to_array.
struct lod_tensor_to_array : operator_definition {
  static constexpr const char* type = "lod_tensor_to_array";
  static constexpr auto inputs = slots_x_table;
  static constexpr auto outputs = slots_out;
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t host_inputs = 2;
  static constexpr void gradient(program_builder& b, const operator_desc& op);
};

/// X@GRAD = the sub-sequences in the slots of Out@GRAD, in the order that they have in X. A slot
/// without a value counts as zeros.
struct lod_tensor_to_array_gradient : operator_definition {
  static constexpr const char* type = "lod_tensor_to_array_grad";
  static constexpr std::array<slot_desc, 3> inputs{{{"X"}, {"RankTable"}, {"Out@GRAD"}}};
  static constexpr std::array<slot_desc, 1> outputs{{{"X@GRAD"}}};
  static constexpr std::uint32_t host_inputs = 2;
};

/// The inverse of lod_tensor_to_array: Out = the rows in the slots of X, in the order of the
/// sequences in the batch. A slot without a value counts as zeros. The gradient is a
/// lod_tensor_to_array. Fluid: array_to_lod_tensor.
struct array_to_lod_tensor : operator_definition {
  static constexpr const char* type = "array_to_lod_tensor";
  static constexpr auto inputs = slots_x_table;
  static constexpr auto outputs = slots_out;
  static constexpr std::uint32_t differentiable = 1;
  static constexpr auto origin = row_origin::ranked;
  static constexpr std::uint32_t host_inputs = 2;
  static constexpr void gradient(program_builder& b, const operator_desc& op);
};

constexpr void lod_tensor_to_array::gradient(program_builder& b, const operator_desc& op) {
  const int array = b.arguments[op.outputs];
  if (!wants_gradient(b, array) || b.gradients->gradient[array] < 0) return;
  const int x = b.arguments[op.inputs], table = b.arguments[op.inputs + 1];
  const int made = partial_gradient(b, x);
  if (made < 0) return;
  if (b.domains[b.variables[array].rows].kind == domain_kind::sequence)
    b.add_operator(schema_of<lod_tensor_to_array_gradient>(), {x, table, array_gradient(b, array)},
                   {made});
  else
    b.add_operator(schema_of<array_to_lod_tensor>(), {array_gradient(b, array), table}, {made});
}

constexpr void array_to_lod_tensor::gradient(program_builder& b, const operator_desc& op) {
  const int array = b.arguments[op.inputs];
  if (!wants_gradient(b, array)) return;
  const int whole = gradient_variable(b, b.arguments[op.outputs]);
  if (whole >= 0)
    b.add_operator(schema_of<lod_tensor_to_array>(), {whole, b.arguments[op.inputs + 1]},
                   {array_gradient(b, array)});
}

/// Out = the first n rows of X, where n is the number of sequences in the table that are longer
/// than I. If the rows of X form sequences, Out has the first n sequences instead. The rows or
/// sequences of X must be in the order of the table. The gradient reads only the shape of X. Fluid:
/// shrink_rnn_memory.
struct shrink_rnn_memory : operator_definition {
  static constexpr const char* type = "shrink_rnn_memory";
  static constexpr std::array<slot_desc, 3> inputs{{{"X"}, {"I"}, {"RankTable"}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 1;
  static constexpr std::uint32_t host_inputs = 6;
};

/// Out = X in the order of the table. Sorts the rows of X if X has one row per sequence of the
/// table; otherwise sorts the sequences of X. Fluid: reorder_lod_tensor_by_rank.
struct reorder_lod_tensor_by_rank : operator_definition {
  static constexpr const char* type = "reorder_lod_tensor_by_rank";
  static constexpr auto inputs = slots_x_table;
  static constexpr auto outputs = slots_out;
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 2;
  static constexpr std::uint32_t host_inputs = 2;
};

/// Out[s] = the value of an RNN memory after the last step of sequence s. The array X holds the
/// memory: X[0] has the initial values, one row per sequence in the order of the table, and X[t +
/// 1] has the values after step t. So Out[s] is a row of X[length of s], and a sequence without
/// elements yields its initial value. Fluid has no such operator: it stores all steps and selects
/// the last one.
struct last_rnn_memory : operator_definition {
  static constexpr const char* type = "last_rnn_memory";
  static constexpr auto inputs = slots_x_table;
  static constexpr auto outputs = slots_out;
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t host_inputs = 2;
  static constexpr void gradient(program_builder& b, const operator_desc& op);
};

/// X@GRAD[length of s] += Out@GRAD[s] for each sequence s, in the row of the slot that belongs to
/// s.
struct last_rnn_memory_gradient : operator_definition {
  static constexpr const char* type = "last_rnn_memory_grad";
  static constexpr std::array<slot_desc, 2> inputs{{{"RankTable"}, {"Out@GRAD"}}};
  static constexpr std::array<slot_desc, 1> outputs{{{"X@GRAD"}}};
  static constexpr std::uint32_t host_inputs = 1;
};

constexpr void last_rnn_memory::gradient(program_builder& b, const operator_desc& op) {
  const int array = b.arguments[op.inputs];
  if (!wants_gradient(b, array)) return;
  const int whole = gradient_variable(b, b.arguments[op.outputs]);
  if (whole >= 0)
    b.add_operator(schema_of<last_rnn_memory_gradient>(), {b.arguments[op.inputs + 1], whole},
                   {array_gradient(b, array)});
}

/// Out = an array with as many rows as Input, whose elements are all `value`. Fluid:
/// fill_constant_batch_size_like.
struct fill_constant_batch_size_like : operator_definition {
  static constexpr const char* type = "fill_constant_batch_size_like";
  static constexpr std::array<slot_desc, 1> inputs{{{"Input"}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 5> attributes{
      {{"shape", attribute_type::integers},
       {"dtype", attribute_type::integer, 5},
       {"value", attribute_type::real, 0},
       {"input_dim_idx", attribute_type::integer, 0},
       {"output_dim_idx", attribute_type::integer, 0}}};
};

using control_rank_table_operators =
    operator_list<lod_rank_table, max_sequence_len, lod_tensor_to_array,
                  lod_tensor_to_array_gradient, array_to_lod_tensor, shrink_rnn_memory,
                  reorder_lod_tensor_by_rank, last_rnn_memory, last_rnn_memory_gradient,
                  fill_constant_batch_size_like>;

}}}  // namespace lamina::operators
