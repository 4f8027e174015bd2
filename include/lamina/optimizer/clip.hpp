// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/clip.hpp - the factors of gradients that are clipped by norm.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <span>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/core/numbers/math.hpp>
#include <lamina/program/param_attr.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// Whether a clip needs the gradient's L2 norm.
constexpr bool needs_norm(gradient_clip clip) {
  return clip.kind == clip_kind::norm || clip.kind == clip_kind::global_norm;
}

/// Returns the factor that limits the norm of a gradient: 1 if norm <= limit, otherwise limit /
/// norm. Fluid: clip_by_norm.
LAMINA_FN constexpr float norm_scale(float norm, float limit) {
  return norm > limit ? limit / norm : 1.f;
}

/// Returns the factor that limits the common norm of several gradients: 1 if sqrt(squares) <=
/// limit, otherwise limit / sqrt(squares), where `squares` is the sum of the squares of their
/// norms. Fluid: GradientClipByGlobalNorm.
LAMINA_FN inline float shared_scale(double squares, float limit) {
  const double norm = math::sqrt(squares);
  return norm > limit ? static_cast<float>(limit / norm) : 1.f;
}

/// Sets scales[i] to the factor of gradient i, which has the clip clips[i] and the L2 norm
/// norms[i]. Gradients with clip_by_global_norm have one common factor, computed from their common
/// norm; throws lamina::error if their limits differ. Each gradient with clip_by_norm has a
/// separate factor. The factor of all other gradients is 1, and their norms are ignored.
LAMINA_API_COLD void clip_scales(std::span<const gradient_clip> clips, std::span<const float> norms,
                                 std::span<float> scales);

#if LAMINA_DEFINES

void clip_scales(std::span<const gradient_clip> clips, std::span<const float> norms,
                 std::span<float> scales) {
  if (clips.size() != norms.size() || clips.size() != scales.size())
    LAMINA_THROW error(text() << "lamina: clip_scales: expected " << clips.size()
                              << " norms and scales, found " << norms.size() << " and "
                              << scales.size());
  double squares = 0;
  float limit = -1;
  for (std::size_t i = 0; i < clips.size(); ++i) {
    if (clips[i].kind != clip_kind::global_norm) continue;
    if (limit >= 0 && clips[i].high != limit)
      LAMINA_THROW error(
          (text() << "lamina: clip_by_global_norm: expected one limit for all parameters, "
                     "found ")
              .print("%f", limit)
              .print(" and %f", clips[i].high));
    limit = clips[i].high;
    squares += static_cast<double>(norms[i]) * norms[i];
  }
  const float shared = shared_scale(squares, limit);
  for (std::size_t i = 0; i < clips.size(); ++i)
    scales[i] = clips[i].kind == clip_kind::global_norm ? shared
                : clips[i].kind == clip_kind::norm      ? norm_scale(norms[i], clips[i].high)
                                                        : 1.f;
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::optimizer
