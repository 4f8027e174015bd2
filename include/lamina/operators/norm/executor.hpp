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
  std::size_t channel(std::size_t i) const { return i / l.inner % l.n; }
  std::size_t part(std::size_t i) const {
    if (groups == 0) return channel(i);
    return i / (l.inner * l.n) * groups + channel(i) / (l.n / groups);
  }
};

/// Mean and biased variance of each slice.
template <class Real>
struct part_moments {
  xt::xarray<Real> mean, variance;
  std::vector<Real> deviations;  // kept because their squares may overflow

  part_moments(const xt::xarray<Real>& x, const norm_parts& p)
      : mean(zeros<Real>({p.parts})), variance(zeros<Real>({p.parts})), deviations(p.parts) {
    const double n = static_cast<double>(p.size);
    auto sums = zeros<double>({p.parts}), squares = zeros<double>({p.parts});
    for (std::size_t i = 0; i < x.size(); ++i)
      sums.flat(p.part(i)) += static_cast<double>(x.flat(i));
    for (std::size_t k = 0; k < p.parts; ++k) mean.flat(k) = static_cast<Real>(sums.flat(k) / n);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Real off = x.flat(i) - mean.flat(p.part(i));
      squares.flat(p.part(i)) += static_cast<double>(off) * static_cast<double>(off);
      deviations[p.part(i)] =
          std::hypot(deviations[p.part(i)], off / std::sqrt(static_cast<Real>(n)));
    }
    for (std::size_t k = 0; k < p.parts; ++k)
      variance.flat(k) = static_cast<Real>(squares.flat(k) / n);
  }
};

/// (x - mean) * inverse * Scale + Bias.
template <class Real>
xt::xarray<Real> normalised(const call_context<Real>& ctx, const xt::xarray<Real>& x,
                            const norm_parts& p, const xt::xarray<Real>& mean,
                            const xt::xarray<Real>& inverse) {
  auto y = zeros<Real>(shape_of(x));
  for (std::size_t i = 0; i < x.size(); ++i) {
    Real value = (x.flat(i) - mean.flat(p.part(i))) * inverse.flat(p.part(i));
    if (ctx.has("Scale")) value *= ctx.real("Scale").flat(p.channel(i));
    if (ctx.has("Bias")) value += ctx.real("Bias").flat(p.channel(i));
    y.flat(i) = value;
  }
  return y;
}

/// The gradient of each slice. With h = (x - mean) * inverse and g = dy * scale: dx = (g - mean(g)
/// - h * mean(g * h)) * inverse, or g * inverse if mean and variance do not depend on x.
template <class Real>
void give_norm_gradients(call_context<Real>& ctx, const norm_parts& p, const xt::xarray<Real>& mean,
                         const xt::xarray<Real>& inverse, bool moments_depend) {
  const auto& x = ctx.real("X");
  const auto& d = ctx.real("Y@GRAD");
  auto mean_g = zeros<double>({p.parts}), mean_gh = zeros<double>({p.parts});
  auto dscale = zeros<double>({p.l.n}), dbias = zeros<double>({p.l.n});
  const auto h = [&](std::size_t i) {
    return (x.flat(i) - mean.flat(p.part(i))) * inverse.flat(p.part(i));
  };
  const auto g = [&](std::size_t i) {
    return d.flat(i) * (ctx.has("Scale") ? ctx.real("Scale").flat(p.channel(i)) : Real(1));
  };
  const double n = static_cast<double>(p.size);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (moments_depend) {
      mean_g.flat(p.part(i)) += static_cast<double>(g(i)) / n;
      mean_gh.flat(p.part(i)) += static_cast<double>(g(i) * h(i)) / n;
    }
    dscale.flat(p.channel(i)) += static_cast<double>(d.flat(i) * h(i));
    dbias.flat(p.channel(i)) += static_cast<double>(d.flat(i));
  }
  auto dx = zeros<Real>(shape_of(x));
  for (std::size_t i = 0; i < x.size(); ++i)
    dx.flat(i) = (moments_depend ? g(i) - static_cast<Real>(mean_g.flat(p.part(i))) -
                                       h(i) * static_cast<Real>(mean_gh.flat(p.part(i)))
                                 : g(i)) *
                 inverse.flat(p.part(i));
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
