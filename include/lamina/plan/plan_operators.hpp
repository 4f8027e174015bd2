// SPDX-License-Identifier: Apache-2.0
// lamina/plan/plan_operators.hpp - operators that only plans contain.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/pointwise.hpp>
#include <lamina/operators/sequence/conv/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// The input and output slots of an operator that copies.
struct plan_copy : operator_definition {
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
};
/// Copies a feed into memory whose rows are padded.
struct stage_feed : plan_copy {
  static constexpr const char* type = "stage_feed";
  static constexpr auto rows = row_rule::independent;
};
/// Copies a matrix in panels to a row-major matrix.
struct unpack_panels : plan_copy {
  static constexpr const char* type = "unpack_panels";
  static constexpr bool knows_panels = true;
};
/// Copies a row-major matrix to a matrix in panels.
struct pack_panels : plan_copy {
  static constexpr const char* type = "pack_panels";
  static constexpr bool knows_panels = true;
};
/// Stores the unchanged result of a group's head.
struct keep : pointwise {
  static constexpr const char* type = "keep";
  static constexpr std::uint32_t differentiable = 0;
  template <class T>
  LAMINA_FN static T f(T x) {
    return x;
  }
};
/// The gradient of mean's X: dOut / (rows * columns).
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

/// Out = X. The row domain of Out takes over the sequences of X's domain, at all levels from the
/// first one in which the domains differ to the innermost one (program/row_renaming.hpp).
struct rows_hand_over : plan_copy {
  static constexpr const char* type = "rows_hand_over";
};

/// A step of the gradient of a weight that is summed over iterations. Stores the rows of X and dOut
/// of one iteration in the arrays Xs and dOuts. Once there are enough rows, adds their X^T dOut to
/// Sum.
struct collect_product : operator_definition {
  static constexpr const char* type = "collect_product";
  static constexpr bool knows_panels = true;
  static constexpr std::array<slot_desc, 3> inputs{{{"X"}, {"dOut"}, {"Sum"}}};
  static constexpr std::array<slot_desc, 3> outputs{{{"Xs"}, {"dOuts"}, {"Out"}}};
};
/// After the loop: adds the product of the remaining rows of Xs and dOuts to Sum.
struct collected_product : operator_definition {
  static constexpr const char* type = "collected_product";
  static constexpr bool knows_panels = true;
  static constexpr std::array<slot_desc, 3> inputs{{{"Xs"}, {"dOuts"}, {"Sum"}}};
  static constexpr auto outputs = slots_out;
};
/// The transpose of a matrix in panels. It is made once before a loop, which would otherwise make
/// it in each iteration.
struct transposed_panels : plan_copy {
  static constexpr const char* type = "transposed_panels";
  static constexpr bool knows_panels = true;
};

/// Collects the scalar arguments of an update, one per attribute, if operators compute some of
/// them. Operators may compute the learning rate, which is multiplied by the update's own
/// attribute, and the scale of the gradient.
struct update_numbers : operator_definition {
  static constexpr const char* type = "update_numbers";
  static constexpr std::array<slot_desc, 2> inputs{
      {{"StepLearningRate", false, true}, {"GradientScale", false, true}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"learning_rate", attribute_type::real, 0}}};
};

/// For each row, puts the rows of X in the window of a sequence_conv side by side. The convolution
/// is the product of this matrix with the filter. It has the attributes of sequence_conv.
struct sequence_windows : operator_definition {
  static constexpr const char* type = "sequence_windows";
  static constexpr std::array<slot_desc, 2> inputs{{{"X"}, {"PaddingData", false, true}}};
  static constexpr auto outputs = slots_out;
  static constexpr auto attributes = sequence_conv::attributes;
};
/// The gradient of sequence_windows.
struct sequence_windows_grad : operator_definition {
  static constexpr const char* type = "sequence_windows_grad";
  static constexpr auto inputs = slots_x;
  static constexpr std::array<slot_desc, 2> outputs{
      {{"X@GRAD", false, true}, {"PaddingData@GRAD", false, true}}};
  static constexpr auto attributes = sequence_conv::attributes;
};

}}}  // namespace lamina::operators
