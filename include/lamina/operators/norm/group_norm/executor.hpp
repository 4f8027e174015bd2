// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/group_norm/executor.hpp - operators that normalise channels: batch_norm,
// group_norm, instance_norm, lrn.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <lamina/executor/kernel_shape.hpp>
#include <lamina/executor/kernel_table.hpp>

namespace lamina::inline LAMINA_ABI::kernel {

/// Which part each element of an array is normalised with: a channel of all images, or a group of
/// channels of one.
struct norm_parts {
  lines l;
  std::size_t parts, size;  // elements of a part
  std::size_t groups;       // of an image; 0: a part is a channel of all images

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

/// Mean and biased variance of each part.
template <class Real>
struct part_moments {
  xt::xarray<Real> mean, variance;
  std::vector<Real> deviations;  // their squares may be more than a number holds

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

/// With h = (x - mean) * inverse and g = dy * scale: dx = (g - mean(g) - h * mean(g * h)) * inverse
/// over each part, or g * inverse where mean and variance do not depend on x.
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
/// 1 / deviation per part: 0 for equal numbers without an epsilon; if the variance overflows, it is
/// computed from the deviation.
template <class Real>
xt::xarray<Real> inverse_deviation(const part_moments<Real>& moments, Real epsilon) {
  auto inverse = inverse_deviation<Real>(moments.variance, epsilon);
  for (std::size_t i = 0; i < inverse.size(); ++i) {
    if (moments.variance.flat(i) + epsilon == 0) inverse.flat(i) = 0;
    if (moments.variance.flat(i) > std::numeric_limits<Real>::max())
      inverse.flat(i) = 1 / moments.deviations[i];
  }
  return inverse;
}

/// Whether batch_norm has a single number in each channel, which passes unchanged.
template <class Real>
bool passes_through(const call_context<Real>& ctx, const norm_parts& p) {
  return !ctx.flag("is_test") && !ctx.flag("use_global_stats") && p.size == 1;
}
template <class Real>
void batch_norm_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const norm_parts p(shape_of(x), 0);
  const Real epsilon = ctx.real_attribute("epsilon"), keep = ctx.real_attribute("momentum");
  auto mean = ctx.real("Mean"), variance = ctx.real("Variance");
  auto next_mean = mean, next_variance = variance;
  if (passes_through(ctx, p)) {
    ctx.give("Y", xt::xarray<Real>(x));
    ctx.give("MeanOut", std::move(next_mean));
    ctx.give("VarianceOut", std::move(next_variance));
    ctx.give("SavedMean", xt::xarray<Real>(ctx.real("Bias")));
    ctx.give("SavedVariance", xt::xarray<Real>(xt::ones_like(variance)));
    return;
  }
  // Without rows there is nothing to learn from.
  xt::xarray<Real> inverse;
  if (!ctx.flag("is_test") && !ctx.flag("use_global_stats") && p.size > 0) {
    part_moments<Real> batch(x, p);
    inverse = inverse_deviation<Real>(batch, epsilon);
    mean = std::move(batch.mean);
    next_mean = keep * next_mean + (Real(1) - keep) * mean;
    next_variance = keep * next_variance + (Real(1) - keep) * batch.variance;
  } else {
    inverse = inverse_deviation<Real>(std::move(variance), epsilon);
  }
  auto y = normalised<Real>(ctx, x, p, mean, inverse);
  ctx.give("Y", std::move(y));
  ctx.give("MeanOut", std::move(next_mean));
  ctx.give("VarianceOut", std::move(next_variance));
  ctx.give("SavedMean", std::move(mean));
  ctx.give("SavedVariance", std::move(inverse));
}
template <class Real>
void batch_norm_gradient(call_context<Real>& ctx) {
  if (const norm_parts p(shape_of(ctx.real("X")), 0); passes_through(ctx, p)) {
    ctx.give("X@GRAD", xt::xarray<Real>(ctx.real("Y@GRAD")));
    ctx.give("Scale@GRAD", zeros<Real>({p.l.n}));
    ctx.give("Bias@GRAD", zeros<Real>({p.l.n}));
    return;
  }
  give_norm_gradients<Real>(ctx, norm_parts(shape_of(ctx.real("X")), 0), ctx.real("SavedMean"),
                            ctx.real("SavedVariance"),
                            !ctx.flag("use_global_stats") && !ctx.flag("is_test"));
}

template <class Real>
norm_parts group_parts(const call_context<Real>& ctx) {
  const tensor_shape shape = shape_of(ctx.real("X"));
  const int groups = ctx.integer("groups", static_cast<int>(shape[1]));
  if (groups < 1 || shape[1] % static_cast<std::size_t>(groups) != 0)
    ctx.fail("expected a number of groups that divides " + std::to_string(shape[1]) +
             " channels, found " + std::to_string(groups));
  return norm_parts(shape, static_cast<std::size_t>(groups));
}

template <class Real>
void group_norm_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const norm_parts p = group_parts<Real>(ctx);
  part_moments<Real> moments(x, p);
  const tensor_shape shape{shape_of(x)[0], p.groups};
  auto inverse = inverse_deviation<Real>(moments, ctx.real_attribute("epsilon"));
  ctx.give("Y", normalised<Real>(ctx, x, p, moments.mean, inverse));
  const bool is_instance = ctx.output_count("SavedMean") > 0;
  ctx.give(is_instance ? "SavedMean" : "Mean", reshaped(moments.mean, shape));
  if (is_instance)
    ctx.give("SavedVariance", reshaped(inverse, shape));
  else
    ctx.give("Variance", reshaped(moments.variance, shape));
}
template <class Real>
void group_norm_gradient(call_context<Real>& ctx) {
  const norm_parts p = group_parts<Real>(ctx);
  if (ctx.has("SavedMean"))
    give_norm_gradients<Real>(ctx, p, ctx.real("SavedMean"), ctx.real("SavedVariance"), true);
  else
    give_norm_gradients<Real>(ctx, p, ctx.real("Mean"),
                              inverse_deviation<Real>(part_moments<Real>(ctx.real("X"), p),
                                                      ctx.real_attribute("epsilon")),
                              true);
}

/// Calls f(element, neighbour) for the n channels around each element; the neighbour has the same
/// position in its channel.
template <class F>
void for_each_neighbour(const lines& l, int n, F f) {
  for (std::size_t o = 0; o < l.outer; ++o)
    for (int c = 0; c < static_cast<int>(l.n); ++c) {
      const int first = std::max(0, c - (n - 1) / 2);
      const int end = std::min(static_cast<int>(l.n), c - (n - 1) / 2 + n);
      for (int k = first; k < end; ++k)
        for (std::size_t i = 0; i < l.inner; ++i)
          f(l.at(o, static_cast<std::size_t>(c), i), l.at(o, static_cast<std::size_t>(k), i));
    }
}

template <class Real>
void lrn_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const Real alpha = ctx.real_attribute("alpha"), beta = ctx.real_attribute("beta");
  auto middle = zeros<Real>(shape_of(x));
  middle += ctx.real_attribute("k");
  for_each_neighbour(lines(shape_of(x), 1), ctx.integer("n"), [&](std::size_t i, std::size_t near) {
    middle.flat(i) += alpha * x.flat(near) * x.flat(near);
  });
  auto y = zeros<Real>(shape_of(x));
  for (std::size_t i = 0; i < x.size(); ++i)
    y.flat(i) = middle.flat(i) == 0 ? Real(0) : x.flat(i) * std::pow(middle.flat(i), -beta);
  ctx.give("Out", std::move(y));
  ctx.give("MidOut", std::move(middle));
}
/// dx = dy * mid^-beta - 2 alpha beta x * the sum of dy * y / mid over the channels that have x as
/// a neighbour.
template <class Real>
void lrn_gradient(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& y = ctx.real("Out");
  const auto& middle = ctx.real("MidOut");
  const auto& d = ctx.real("Out@GRAD");
  const Real alpha = ctx.real_attribute("alpha"), beta = ctx.real_attribute("beta");
  auto dx = zeros<Real>(shape_of(x));
  for (std::size_t i = 0; i < x.size(); ++i)
    dx.flat(i) = middle.flat(i) == 0 ? Real(0) : d.flat(i) * std::pow(middle.flat(i), -beta);
  for_each_neighbour(lines(shape_of(x), 1), ctx.integer("n"), [&](std::size_t i, std::size_t near) {
    if (middle.flat(i) != 0)
      dx.flat(near) -=
          Real(2) * alpha * beta * x.flat(near) * d.flat(i) * y.flat(i) / middle.flat(i);
  });
  ctx.give("X@GRAD", std::move(dx));
}

template <class Real>
void add_image_norm_kernels(kernel_table<Real>& table) {
  table["batch_norm"] = batch_norm_forward<Real>;
  table["batch_norm_grad"] = batch_norm_gradient<Real>;
  table["group_norm"] = group_norm_forward<Real>;
  table["group_norm_grad"] = group_norm_gradient<Real>;
  table["instance_norm"] = group_norm_forward<Real>;
  table["instance_norm_grad"] = group_norm_gradient<Real>;
  table["lrn"] = lrn_forward<Real>;
  table["lrn_grad"] = lrn_gradient<Real>;
}

}  // namespace lamina::inline LAMINA_ABI::kernel
