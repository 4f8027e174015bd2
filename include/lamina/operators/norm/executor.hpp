// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/executor.hpp - mean and variance of slices of an array, for all
// normalisations.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <lamina/executor/kernel_shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Assigns each element of an array to the slice with which it is normalised: a channel of all
/// images, or a group of channels of one image.
struct norm_parts {
  lines l;
  std::size_t parts, size;  // number of slices; elements per slice
  std::size_t groups;       // per image; 0: a slice is a channel of all images

  norm_parts(const tensor_shape& shape, std::size_t groups_of_image)
      : l(shape, 1), groups(groups_of_image) {
    parts = groups == 0 ? l.n : l.outer * groups;
    size = parts == 0 ? 0 : l.outer * l.n * l.inner / parts;
  }
  /// Calls f(first, end, part, channel) for the elements [first, end) of each channel of each
  /// image.
  template <class F>
  void each(F f) const {
    for (std::size_t k = 0; k < l.outer * l.n; ++k) {
      const std::size_t image = k / l.n, channel = k % l.n;
      const std::size_t part = groups == 0 ? channel : image * groups + channel / (l.n / groups);
      f(k * l.inner, (k + 1) * l.inner, part, channel);
    }
  }
};

/// Mean and biased variance of each slice.
template <class Real>
struct part_moments {
  xt::xarray<Real> mean, variance;
  std::vector<Real> deviations;  // of slices whose variance overflows

  part_moments(const xt::xarray<Real>& x, const norm_parts& p)
      : mean(zeros<Real>({p.parts})), variance(zeros<Real>({p.parts})), deviations(p.parts) {
    const double n = static_cast<double>(p.size);
    std::vector<double> sums(p.parts), squares(p.parts);
    const Real* const from = x.data();
    p.each([&](std::size_t i, std::size_t end, std::size_t part, std::size_t) {
      for (; i < end; ++i) sums[part] += static_cast<double>(from[i]);
    });
    for (std::size_t k = 0; k < p.parts; ++k) mean.flat(k) = static_cast<Real>(sums[k] / n);
    p.each([&](std::size_t i, std::size_t end, std::size_t part, std::size_t) {
      const Real centre = mean.flat(part);
      for (; i < end; ++i) {
        const double off = static_cast<double>(from[i] - centre);
        squares[part] += off * off;
      }
    });
    for (std::size_t k = 0; k < p.parts; ++k) variance.flat(k) = static_cast<Real>(squares[k] / n);
    p.each([&](std::size_t i, std::size_t end, std::size_t part, std::size_t) {
      if (variance.flat(part) <= (std::numeric_limits<Real>::max)()) return;
      for (; i < end; ++i)
        deviations[part] = std::hypot(
            deviations[part], (from[i] - mean.flat(part)) / std::sqrt(static_cast<Real>(n)));
    });
  }
};

/// (x - mean) * inverse * Scale + Bias.
template <class Real>
xt::xarray<Real> normalised(const call_context<Real>& ctx, const xt::xarray<Real>& x,
                            const norm_parts& p, const xt::xarray<Real>& mean,
                            const xt::xarray<Real>& inverse) {
  auto y = zeros<Real>(shape_of(x));
  const Real* const scale = ctx.has("Scale") ? ctx.real("Scale").data() : nullptr;
  const Real* const bias = ctx.has("Bias") ? ctx.real("Bias").data() : nullptr;
  const Real* const from = x.data();
  Real* const to = y.data();
  p.each([&](std::size_t i, std::size_t end, std::size_t part, std::size_t channel) {
    const Real centre = mean.flat(part), factor = inverse.flat(part);
    for (; i < end; ++i) {
      to[i] = (from[i] - centre) * factor;
      if (scale != nullptr) to[i] *= scale[channel];
      if (bias != nullptr) to[i] += bias[channel];
    }
  });
  return y;
}

/// The gradient of each slice. With h = (x - mean) * inverse and g = dy * scale: dx = (g - mean(g)
/// - h * mean(g * h)) * inverse, or g * inverse if mean and variance do not depend on x.
template <class Real>
void give_norm_gradients(call_context<Real>& ctx, const norm_parts& p, const xt::xarray<Real>& mean,
                         const xt::xarray<Real>& inverse, bool moments_depend) {
  const Real* const x = ctx.real("X").data();
  const Real* const d = ctx.real("Y@GRAD").data();
  const Real* const scale = ctx.has("Scale") ? ctx.real("Scale").data() : nullptr;
  std::vector<double> mean_g(p.parts), mean_gh(p.parts);
  auto dscale = zeros<double>({p.l.n}), dbias = zeros<double>({p.l.n});
  const double n = static_cast<double>(p.size);
  p.each([&](std::size_t i, std::size_t end, std::size_t part, std::size_t channel) {
    const Real centre = mean.flat(part), factor = inverse.flat(part);
    for (; i < end; ++i) {
      const Real h = (x[i] - centre) * factor, g = scale != nullptr ? d[i] * scale[channel] : d[i];
      if (moments_depend) {
        mean_g[part] += static_cast<double>(g) / n;
        mean_gh[part] += static_cast<double>(g * h) / n;
      }
      dscale.flat(channel) += static_cast<double>(d[i] * h);
      dbias.flat(channel) += static_cast<double>(d[i]);
    }
  });
  auto dx = zeros<Real>(shape_of(ctx.real("X")));
  Real* const to = dx.data();
  p.each([&](std::size_t i, std::size_t end, std::size_t part, std::size_t channel) {
    const Real centre = mean.flat(part), factor = inverse.flat(part);
    for (; i < end; ++i) {
      const Real h = (x[i] - centre) * factor, g = scale != nullptr ? d[i] * scale[channel] : d[i];
      to[i] = (moments_depend
                   ? g - static_cast<Real>(mean_g[part]) - h * static_cast<Real>(mean_gh[part])
                   : g) *
              factor;
    }
  });
  ctx.give("X@GRAD", std::move(dx));
  ctx.give("Scale@GRAD", xt::xarray<Real>(xt::cast<Real>(dscale)));
  ctx.give("Bias@GRAD", xt::xarray<Real>(xt::cast<Real>(dbias)));
}

template <class Real>
xt::xarray<Real> inverse_deviation(xt::xarray<Real> variance, Real epsilon) {
  for (std::size_t i = 0; i < variance.size(); ++i)
    variance.flat(i) = Real(1) / std::sqrt(variance.flat(i) + epsilon);
  return variance;
}
/// 1 / deviation per slice; 0 if all elements are equal and epsilon is 0. If the variance
/// overflows, the result is computed from the deviation.
template <class Real>
xt::xarray<Real> inverse_deviation(const part_moments<Real>& moments, Real epsilon) {
  auto inverse = inverse_deviation<Real>(moments.variance, epsilon);
  for (std::size_t i = 0; i < inverse.size(); ++i) {
    if (moments.variance.flat(i) + epsilon == 0) inverse.flat(i) = 0;
    if (moments.variance.flat(i) > (std::numeric_limits<Real>::max)())
      inverse.flat(i) = 1 / moments.deviations[i];
  }
  return inverse;
}

}}}  // namespace lamina::kernel
