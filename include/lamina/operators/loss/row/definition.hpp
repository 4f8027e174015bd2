// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/row/definition.hpp - costs computed over whole rows or over all elements.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Diff = d = InsideWeight * (X - Y); Out = OutsideWeight * (d^2 sigma^2 / 2 if |d| < 1 / sigma^2,
/// else |d| - 0.5 / sigma^2), summed over each row. Source: Girshick 2015. Fluid: smooth_l1_loss.
struct smooth_l1_loss : operator_definition {
  static constexpr const char* type = "smooth_l1_loss";
  static constexpr std::array<slot_desc, 4> inputs{
      {{"X"}, {"Y"}, {"InsideWeight", false, true}, {"OutsideWeight", false, true}}};
  static constexpr std::array<slot_desc, 2> outputs{{{"Diff", false, false, true}, {"Out"}}};
  static constexpr std::array<attribute_desc, 1> attributes{{{"sigma", attribute_type::real, 1}}};
  static constexpr std::uint32_t differentiable = 3;
  static constexpr std::uint32_t gradient_inputs = 12;
  static constexpr std::uint32_t gradient_outputs = 1;
  static constexpr std::uint32_t gradient_of_outputs = 2;
};

/// Out = t * (log t - x), or 0 if t <= 0, for each element t of Target and x of X, which holds
/// logarithms of probabilities. If `reduction` is "sum", "mean" or "batchmean", Out is the sum of
/// these costs, divided by 1, by the number of elements or by the number of rows; if it is "none",
/// Out has each cost. The gradient reads Target, which has the shape of X. Fluid: kldiv_loss.
struct kldiv_loss : operator_definition {
  static constexpr const char* type = "kldiv_loss";
  static constexpr std::array<slot_desc, 2> inputs{{{"X"}, {"Target"}}};
  static constexpr std::array<slot_desc, 1> outputs{{{"Loss"}}};
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"reduction", attribute_type::string, 0, "mean"}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 2;
  static constexpr auto reduces = row_reduction::named;
};

/// Y = the mean over j != label of log(1 + e^(x_j - x_label)), for each row x. Source: Hidasi et
/// al. 2016. Fluid: bpr_loss.
struct bpr_loss : operator_definition {
  static constexpr const char* type = "bpr_loss";
  static constexpr std::array<slot_desc, 2> inputs{{{"X"}, {"Label"}}};
  static constexpr std::array<slot_desc, 1> outputs{{{"Y"}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 3;
};

/// Out = (1 - epsilon) * X + epsilon * PriorDist. Without PriorDist, Out = (1 - epsilon) * X +
/// epsilon / K, where K is the number of classes, the last dimension of X. The gradient reads only
/// Out@GRAD. Source: Szegedy et al. 2016. Fluid: label_smooth.
struct label_smooth : operator_definition {
  static constexpr const char* type = "label_smooth";
  static constexpr std::array<slot_desc, 2> inputs{{{"X"}, {"PriorDist", false, true}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 1> attributes{{{"epsilon", attribute_type::real, 0}}};
  static constexpr std::uint32_t differentiable = 1;
};

using loss_row_operators = operator_list<smooth_l1_loss, kldiv_loss, bpr_loss, label_smooth>;

}}}  // namespace lamina::operators
