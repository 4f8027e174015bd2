// SPDX-License-Identifier: Apache-2.0
// lamina/plan/image_operators.hpp - operators on images that only plans contain. Lowering cuts
// image operators into these parts, so that the pointwise part can join neighbouring groups.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/conv/definition.hpp>
#include <lamina/operators/norm/batch_norm/definition.hpp>
#include <lamina/operators/pointwise.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Computes the inputs of batch_norm's normalisation: SavedMean and SavedVariance as in batch_norm,
/// the moving statistics, and Factor = Scale * SavedVariance. The statistics are computed from the
/// batch X; without X, the given Mean and Variance are used. It has the attributes of batch_norm.
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

/// The result of batch_norm: (X - Mean) * Factor + Bias.
struct channel_normalize : pointwise {
  static constexpr const char* type = "channel_normalize";
  static constexpr std::array<slot_desc, 4> inputs{{{"X"}, {"Mean"}, {"Factor"}, {"Bias"}}};
  static constexpr std::uint32_t differentiable = 0;
  template <class T>
  LAMINA_FN static T f(T x, T mean, T factor, T bias) {
    return (x - mean) * factor + bias;
  }
};

/// The sums over the batch in the gradient of batch_norm, and the inputs of its pointwise part.
/// With h = (X - SavedMean) * SavedVariance: Scale@GRAD = sum dY * h and Bias@GRAD = sum dY. Share
/// = Bias@GRAD / count and Gradient = Scale@GRAD / count * SavedVariance; both are 0 where the
/// statistics are given. Factor = Scale * SavedVariance. It has the attributes of batch_norm.
struct batch_norm_grads : operator_definition {
  static constexpr const char* type = "batch_norm_grads";
  static constexpr std::array<slot_desc, 5> inputs{
      {{"X"}, {"Scale"}, {"SavedMean"}, {"SavedVariance"}, {"Y@GRAD"}}};
  static constexpr std::array<slot_desc, 5> outputs{{{"Scale@GRAD", false, true},
                                                     {"Bias@GRAD", false, true},
                                                     {"Share", false, true},
                                                     {"Slope", false, true},
                                                     {"Factor", false, true}}};
  static constexpr auto attributes = batch_norm::attributes;
};

/// The gradient of batch_norm's X: (dY - Share - (X - Mean) * Gradient) * Factor.
struct channel_normalize_grad : pointwise {
  static constexpr const char* type = "channel_normalize_grad";
  static constexpr std::array<slot_desc, 6> inputs{
      {{"Y@GRAD"}, {"X"}, {"Mean"}, {"Share"}, {"Slope"}, {"Factor"}}};
  static constexpr std::uint32_t differentiable = 0;
  template <class T>
  LAMINA_FN static T f(T dy, T x, T mean, T share, T grad, T factor) {
    return (dy - share - (x - mean) * grad) * factor;
  }
};

/// channel_normalize_grad for images whose channels have one element per row. A batch of one row
/// passes batch_norm unchanged, with a Gradient of 0. There, 0 times an infinite X must not give
/// NaN.
struct column_normalize_grad : channel_normalize_grad {
  static constexpr const char* type = "column_normalize_grad";
  template <class T>
  LAMINA_FN static T f(T dy, T x, T mean, T share, T grad, T factor) {
    const T tilt = math::select(grad == T(0), T(0), (x - mean) * grad);
    return (dy - share - tilt) * factor;
  }
};

/// The gradient of the filters of conv2d, depthwise_conv2d and conv3d. It has the attributes of
/// these operators.
struct conv_filter_gradient_sum : operator_definition {
  static constexpr const char* type = "conv_filter_gradient";
  static constexpr std::array<slot_desc, 2> inputs{{{"Input"}, {"Output@GRAD"}}};
  static constexpr std::array<slot_desc, 1> outputs{{{"Filter@GRAD"}}};
  static constexpr auto attributes = conv2d::attributes;
};

/// Out[c] = the sum of the elements of channel c of X over all rows.
struct channel_sums : operator_definition {
  static constexpr const char* type = "channel_sums";
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
};

}}}  // namespace lamina::operators
