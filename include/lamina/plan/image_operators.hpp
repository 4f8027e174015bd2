// SPDX-License-Identifier: Apache-2.0
// lamina/plan/image_operators.hpp - operators on images that only plans contain. Lowering replaces
// an operator such as batch_norm by several of these operators, so that the pointwise parts can be
// fused with neighbouring operators.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/conv/definition.hpp>
#include <lamina/operators/norm/batch_norm/definition.hpp>
#include <lamina/operators/pointwise.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Computes the values per channel that batch_norm's normalisation needs: SavedMean, SavedVariance
/// (the reciprocal standard deviation), MeanOut and VarianceOut as in batch_norm, and Factor =
/// Scale * SavedVariance. The statistics are computed from the batch X; without X, the given Mean
/// and Variance are used. The operator has the attributes of batch_norm.
struct batch_norm_factor : operator_definition {
  static constexpr const char* type = "batch_norm_factor";
  static constexpr std::array<slot_desc, 5> inputs{
      {{"X", false, true}, {"Scale"}, {"Bias"}, {"Mean"}, {"Variance"}}};
  static constexpr std::array<slot_desc, 5> outputs{{{"MeanOut", false, true},
                                                     {"VarianceOut", false, true},
                                                     {"SavedMean", false, true},
                                                     {"SavedVariance", false, true},
                                                     {"Factor"}}};
  static constexpr auto attributes = batch_norm::attributes;
};

/// Computes the result of batch_norm: (X - Mean) * Factor + Bias.
struct channel_normalize : pointwise {
  static constexpr const char* type = "channel_normalize";
  static constexpr std::array<slot_desc, 4> inputs{{{"X"}, {"Mean"}, {"Factor"}, {"Bias"}}};
  static constexpr std::uint32_t differentiable = 0;
  template <class T>
  LAMINA_FN static T f(T x, T mean, T factor, T bias) {
    return (x - mean) * factor + bias;
  }
};

/// Computes the sums over the batch in the gradient of batch_norm, and the values per channel that
/// channel_normalize_grad needs. With h = (X - SavedMean) * SavedVariance: Scale@GRAD = sum dY * h
/// and Bias@GRAD = sum dY. MeanGrad = Bias@GRAD / count and Slope = Scale@GRAD / count *
/// SavedVariance, where count is the number of elements per channel; both are 0 if the statistics
/// are given. Factor = Scale * SavedVariance. The operator has the attributes of batch_norm.
struct batch_norm_grads : operator_definition {
  static constexpr const char* type = "batch_norm_grads";
  static constexpr std::array<slot_desc, 5> inputs{
      {{"X"}, {"Scale"}, {"SavedMean"}, {"SavedVariance"}, {"Y@GRAD"}}};
  static constexpr std::array<slot_desc, 5> outputs{{{"Scale@GRAD", false, true},
                                                     {"Bias@GRAD", false, true},
                                                     {"MeanGrad", false, true},
                                                     {"Slope", false, true},
                                                     {"Factor", false, true}}};
  static constexpr auto attributes = batch_norm::attributes;
};

/// Computes the gradient of batch_norm's X: (dY - MeanGrad - (X - Mean) * Slope) * Factor.
struct channel_normalize_grad : pointwise {
  static constexpr const char* type = "channel_normalize_grad";
  static constexpr std::array<slot_desc, 6> inputs{
      {{"Y@GRAD"}, {"X"}, {"Mean"}, {"MeanGrad"}, {"Slope"}, {"Factor"}}};
  static constexpr std::uint32_t differentiable = 0;
  template <class T>
  LAMINA_FN static T f(T dy, T x, T mean, T mean_grad, T slope, T factor) {
    return (dy - mean_grad - (x - mean) * slope) * factor;
  }
};

/// Does the same for images whose channels have one element per row. A batch of one row has no
/// variance, so batch_norm does not normalise it and Slope is 0; the product of this 0 and an
/// infinite X must not become NaN.
struct column_normalize_grad : channel_normalize_grad {
  static constexpr const char* type = "column_normalize_grad";
  template <class T>
  LAMINA_FN static T f(T dy, T x, T mean, T mean_grad, T slope, T factor) {
    const T tilt = math::select(slope == T(0), T(0), (x - mean) * slope);
    return (dy - mean_grad - tilt) * factor;
  }
};

/// Computes the gradient of the filters of conv2d, depthwise_conv2d and conv3d. The operator has
/// the attributes of these operators.
struct conv_filter_gradient_sum : operator_definition {
  static constexpr const char* type = "conv_filter_gradient";
  static constexpr std::array<slot_desc, 2> inputs{{{"Input"}, {"Output@GRAD"}}};
  static constexpr std::array<slot_desc, 1> outputs{{{"Filter@GRAD"}}};
  static constexpr auto attributes = conv2d::attributes;
};

/// Computes Out[c], the sum of all elements of channel c of X over all rows.
struct channel_sums : operator_definition {
  static constexpr const char* type = "channel_sums";
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
};

}}}  // namespace lamina::operators
