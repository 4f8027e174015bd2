// SPDX-License-Identifier: Apache-2.0
// lamina/operators/metric/classification/definition.hpp - operators that evaluate predictions; only
// top_k has a gradient.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = the k largest elements of each row, the largest first; Indices = their positions in the
/// row. The gradient reads only the shape of X. Fluid: top_k.
struct top_k : operator_definition {
  static constexpr const char* type = "top_k";
  static constexpr auto inputs = slots_x;
  static constexpr std::array<slot_desc, 2> outputs{{{"Out"}, {"Indices"}}};
  static constexpr std::array<attribute_desc, 1> attributes{{{"k", attribute_type::integer, 1}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 1;
  static constexpr std::uint32_t gradient_outputs = 2;
};

/// Total = the number of rows of Indices; Correct = the number of rows that contain their Label;
/// Accuracy = Correct / Total. All three have shape [1]. Out holds the scores of Indices: a row
/// whose Label has the score NaN does not count as correct. Fluid: accuracy.
struct accuracy : operator_definition {
  static constexpr const char* type = "accuracy";
  static constexpr std::array<slot_desc, 3> inputs{{{"Out"}, {"Indices"}, {"Label"}}};
  static constexpr std::array<slot_desc, 3> outputs{{{"Accuracy"}, {"Correct"}, {"Total"}}};
  static constexpr auto reduces = row_reduction::mean;
  static constexpr std::uint32_t reduced_outputs = 1;
};

/// AUC = the area under the ROC curve (the rate of true positives as a function of the rate of
/// false positives) over all mini-batches so far. StatPos and StatNeg count the positive and the
/// negative rows with each value of floor(Predict[:, 1] * num_thresholds); the operator updates
/// both in place (StatPosOut, StatNegOut). Fluid: auc.
struct auc : operator_definition {
  static constexpr const char* type = "auc";
  static constexpr std::array<slot_desc, 4> inputs{
      {{"Predict"}, {"Label"}, {"StatPos"}, {"StatNeg"}}};
  static constexpr std::array<slot_desc, 3> outputs{{{"AUC"}, {"StatPosOut"}, {"StatNegOut"}}};
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"curve", attribute_type::string, 0, "ROC"},
       {"num_thresholds", attribute_type::integer, 4095}}};
};

/// Out[i, j] = 1 if X[i] = j, else 0. X is an integer array [..., 1], Out is [..., depth]. For an
/// index out of range, the run fails or, with allow_out_of_range, the row of Out is 0. Fluid:
/// one_hot.
struct one_hot : operator_definition {
  static constexpr const char* type = "one_hot";
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"depth", attribute_type::integer, 1}, {"allow_out_of_range", attribute_type::boolean, 0}}};
};

using metric_classification_operators = operator_list<top_k, accuracy, auc, one_hot>;

}}}  // namespace lamina::operators
