// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/ctc/definition.hpp - connectionist temporal classification: the cost of
// labels whose positions in a sequence are unknown.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Loss[i] = -log P, where P is the sum of the probabilities of all paths that collapse to sequence
/// i of Label. A path has one class per row of Logits [rows, classes]. Its probability is the
/// product of softmax(Logits) of its classes. It collapses by merging equal neighbours and then
/// dropping the class `blank`. WarpCTCGrad [rows, classes] = d Loss / d Logits. norm_by_times
/// divides the gradient, but not the loss, by the number of rows of the sequence. Source: Graves et
/// al. 2006. Fluid: warpctc; there, WarpCTCGrad is padded.
struct warpctc : operator_definition {
  static constexpr const char* type = "warpctc";
  static constexpr std::array<slot_desc, 2> inputs{{{"Logits"}, {"Label"}}};
  static constexpr std::array<slot_desc, 2> outputs{
      {{"WarpCTCGrad", false, false, true}, {"Loss"}}};
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"blank", attribute_type::integer, 0}, {"norm_by_times", attribute_type::boolean, 0}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 1;
  static constexpr std::uint32_t gradient_outputs = 1;
  static constexpr std::uint32_t gradient_of_outputs = 2;
  static constexpr bool accepts_any_rows = true;
};

/// Output = each sequence of Input [rows, 1], a path of classes, collapsed to its labels: rows that
/// equal the previous row are removed if merge_repeated is true, and all rows that equal `blank`
/// are removed. There is no gradient. Fluid: ctc_align; unlike in Fluid, a sequence of the output
/// may be empty.
struct ctc_align : operator_definition {
  static constexpr const char* type = "ctc_align";
  static constexpr std::array<slot_desc, 1> inputs{{{"Input"}}};
  static constexpr std::array<slot_desc, 1> outputs{{{"Output"}}};
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"blank", attribute_type::integer, 0}, {"merge_repeated", attribute_type::boolean, 1}}};
  static constexpr int made_levels = 1;
};

using loss_ctc_operators = operator_list<warpctc, ctc_align>;

}}}  // namespace lamina::operators
