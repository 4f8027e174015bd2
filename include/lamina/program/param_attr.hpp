// SPDX-License-Identifier: Apache-2.0
// lamina/program/param_attr.hpp - options that name, initialise and update a layer's parameter.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/core/messages/check.hpp>
#include <lamina/program/initializer.hpp>
#include <lamina/program/program_desc.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// A penalty whose gradient is added to a parameter's gradient; made by l1_decay and l2_decay.
struct regularizer {
  regularizer_kind kind = regularizer_kind::none;
  float coefficient = 0;
};
/// Adds coefficient * sign(p) to the gradient of each element p. Fluid: L1Decay.
constexpr regularizer l1_decay(float coefficient) { return {regularizer_kind::l1, coefficient}; }
/// Adds coefficient * p to the gradient of each element p. Fluid: L2Decay.
constexpr regularizer l2_decay(float coefficient) { return {regularizer_kind::l2, coefficient}; }

/// A limit of a gradient, applied before the update; made by the clip_by_* functions.
struct gradient_clip {
  clip_kind kind = clip_kind::none;
  float low = 0, high = 0;  // clip by norm: `high` is the norm
};
/// Replaces each element g of the gradient by min(max(g, low), high). Fluid: GradientClipByValue.
constexpr gradient_clip clip_by_value(float low, float high) {
  return {clip_kind::value, low, high};
}
/// Replaces each element g of the gradient by min(max(g, -limit), limit).
constexpr gradient_clip clip_by_value(float limit) { return clip_by_value(-limit, limit); }
/// Replaces a parameter's gradient g by g * norm / ||g|| if its 2-norm ||g|| is above `norm`.
/// Fluid: GradientClipByNorm.
constexpr gradient_clip clip_by_norm(float norm) { return {clip_kind::norm, 0, norm}; }
/// Replaces each gradient g by g * norm / max(norm, sqrt(sum ||g||^2)), where the sum is over the
/// gradients of all parameters with this clip. Fluid: GradientClipByGlobalNorm.
constexpr gradient_clip clip_by_global_norm(float norm) {
  return {clip_kind::global_norm, 0, norm};
}

#ifdef LAMINA_NAMES_OPTIONS
// clang-format off
regularizer l1_decay(...) = delete;  // expected a number, l1_decay(1e-4f)
regularizer l2_decay(...) = delete;  // expected a number, l2_decay(1e-4f)
gradient_clip clip_by_value(...) = delete;  // expected a number, clip_by_value(1.f)
gradient_clip clip_by_norm(...) = delete;  // expected a number, clip_by_norm(1.f)
gradient_clip clip_by_global_norm(...) = delete;  // expected a number, clip_by_global_norm(1.f)
// clang-format on
#endif

/// Fluid's ParamAttr: the options of a parameter that the user of a layer can set.
struct param_attr {
  std::string_view name{};            // layers that name the same parameter share it
  lamina::initializer initializer{};  // default: the layer's own (Xavier for weights, 0 for biases)
  float learning_rate = 1;            // factor on the optimizer's learning rate
  lamina::regularizer regularizer{};  // overrides the optimizer's regularizer
  bool trainable = true;
  lamina::gradient_clip gradient_clip{};  // overrides the optimizer's clip
};

}}  // namespace lamina
