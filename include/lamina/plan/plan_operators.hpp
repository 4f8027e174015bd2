// SPDX-License-Identifier: Apache-2.0
// lamina/plan/plan_operators.hpp - operators that only plans contain.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/pointwise.hpp>
#include <lamina/operators/sequence/conv/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// The base of operators that copy X to Out.
struct plan_copy : operator_definition {
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
};
/// Copies a feed into memory whose rows are padded.
struct stage_feed : plan_copy {
  static constexpr const char* type = "stage_feed";
  static constexpr auto rows = row_rule::independent;
};
/// Copies a matrix in the engine's panel layout to a row-major matrix.
struct unpack_panels : plan_copy {
  static constexpr const char* type = "unpack_panels";
  static constexpr bool knows_panels = true;
};
/// Copies a row-major matrix to a matrix in the panel layout.
struct pack_panels : plan_copy {
  static constexpr const char* type = "pack_panels";
  static constexpr bool knows_panels = true;
};
/// Writes the result of a group's head, unchanged, to memory.
struct keep : pointwise {
  static constexpr const char* type = "keep";
  static constexpr std::uint32_t differentiable = 0;
  template <class T>
  LAMINA_FN static T f(T x) {
    return x;
  }
};
/// Computes the gradient of mean's X: dOut / (rows * columns).
struct spread_mean : pointwise {
  static constexpr const char* type = "spread_mean";
  static constexpr std::uint32_t differentiable = 0;
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"one_over_rows", attribute_type::real}, {"one_over_columns", attribute_type::real}}};
  template <class T>
  LAMINA_FN static T f(T dy, T one_over_rows, T one_over_columns) {
    return dy * one_over_rows * one_over_columns;
  }
};

/// Computes Out = X and copies the offsets of the sequences from X's row domain to Out's row
/// domain, at each level from the outermost level in which the domains differ to the innermost
/// level (program/row_renaming.hpp).
struct rows_hand_over : plan_copy {
  static constexpr const char* type = "rows_hand_over";
};

/// One iteration's step in the gradient of a weight that is a sum over iterations. Stores the rows
/// of X and dOut of this iteration in the arrays Xs and dOuts. When enough rows are stored, adds
/// the product X^T dOut of all stored rows to Sum.
struct defer_product : operator_definition {
  static constexpr const char* type = "defer_product";
  static constexpr bool knows_panels = true;
  static constexpr std::array<slot_desc, 3> inputs{{{"X"}, {"dOut"}, {"Sum"}}};
  static constexpr std::array<slot_desc, 3> outputs{{{"Xs"}, {"dOuts"}, {"Out"}}};
};
/// Adds the product of the rows that remain in Xs and dOuts after the loop to Sum.
struct deferred_product : operator_definition {
  static constexpr const char* type = "deferred_product";
  static constexpr bool knows_panels = true;
  static constexpr std::array<slot_desc, 3> inputs{{{"Xs"}, {"dOuts"}, {"Sum"}}};
  static constexpr auto outputs = slots_out;
};
/// Computes the transpose of a matrix in panels, once before a loop. Otherwise the loop would
/// transpose the matrix in each iteration.
struct transposed_panels : plan_copy {
  static constexpr const char* type = "transposed_panels";
  static constexpr bool knows_panels = true;
};

/// Writes the scalar arguments of an update, one per attribute, to consecutive memory. The plan
/// contains it if operators compute some of the arguments: the learning rate, which is multiplied
/// by the attribute learning_rate, or the scale of the gradient.
struct update_numbers : operator_definition {
  static constexpr const char* type = "update_numbers";
  static constexpr std::array<slot_desc, 2> inputs{
      {{"StepLearningRate", false, true}, {"GradientScale", false, true}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"learning_rate", attribute_type::real, 0}}};
};

/// Computes, for each row, the concatenation of the rows of X in the window of a sequence_conv. The
/// convolution is the product of this matrix with the filter. The operator has the attributes of
/// sequence_conv.
struct sequence_windows : operator_definition {
  static constexpr const char* type = "sequence_windows";
  static constexpr std::array<slot_desc, 2> inputs{{{"X"}, {"PaddingData", false, true}}};
  static constexpr auto outputs = slots_out;
  static constexpr auto attributes = sequence_conv::attributes;
};
/// Computes the gradients of sequence_windows.
struct sequence_windows_grad : operator_definition {
  static constexpr const char* type = "sequence_windows_grad";
  static constexpr auto inputs = slots_x;
  static constexpr std::array<slot_desc, 2> outputs{
      {{"X@GRAD", false, true}, {"PaddingData@GRAD", false, true}}};
  static constexpr auto attributes = sequence_conv::attributes;
};

}}}  // namespace lamina::operators
