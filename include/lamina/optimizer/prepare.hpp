// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/prepare.hpp - prepares a gradient for the update: scales and clips it, then adds
// the decay.
#pragma once

#include <lamina/core/config.hpp>

#include <limits>

#include <lamina/core/numbers/math.hpp>
#include <lamina/program/param_attr.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// Returns the gradient that the update uses: clamp(grad * scale, low, high) + l2 * param + l1 *
/// sign(param). As in Fluid, the gradient is clipped before the decay is added. A NaN gradient
/// stays NaN.
template <class T>
LAMINA_INLINE LAMINA_NUMBER_FN T prepared_gradient(T grad, T param, T scale, T low, T high, T l1,
                                                   T l2) {
  const T clipped = (math::max)(low, (math::min)(high, grad * scale));
  const T decayed = clipped + l2 * param;
  // l1 is the same for all elements and usually 0; the sign is then not computed.
  if (!math::any(l1 != T(0))) return decayed;
  return decayed + l1 * math::sign(param);
}

/// Whether prepared_gradient returns every gradient unchanged.
template <class Real>
LAMINA_FN constexpr bool leaves_gradient(Real scale, Real low, Real high, Real l1, Real l2) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  return scale == 1 && low == -infinity && high == infinity && l1 == 0 && l2 == 0;
}

/// The scalar arguments of prepared_gradient for a parameter, except the scale, which clip.hpp
/// computes.
struct gradient_preparation {
  float low, high, l1, l2;
};

/// Returns the scalar arguments for a clip and a decay. Without a clip by value, low and high are
/// infinite; without decay, l1 and l2 are 0.
constexpr gradient_preparation preparation_of(gradient_clip clip, regularizer decay) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const bool bounded = clip.kind == clip_kind::value;
  return {bounded ? clip.low : -infinity, bounded ? clip.high : infinity,
          decay.kind == regularizer_kind::l1 ? decay.coefficient : 0,
          decay.kind == regularizer_kind::l2 ? decay.coefficient : 0};
}

/// Returns the parameter's own decay if it has one, otherwise the optimizer's.
constexpr regularizer decay_in_force(regularizer of_parameter, regularizer of_optimizer) {
  return of_parameter.kind != regularizer_kind::none ? of_parameter : of_optimizer;
}

/// Returns the parameter's own clip if it has one, otherwise the optimizer's.
constexpr gradient_clip clip_in_force(gradient_clip of_parameter, gradient_clip of_optimizer) {
  return of_parameter.kind != clip_kind::none ? of_parameter : of_optimizer;
}

}}}  // namespace lamina::optimizer
