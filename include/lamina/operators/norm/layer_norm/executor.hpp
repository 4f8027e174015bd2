// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/layer_norm/executor.hpp - normalisation of the elements of each row
// (layer_norm) or of the channels of images (group_norm, instance_norm).
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <lamina/core/numbers/math.hpp>
#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/operators/norm/executor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Mean and biased variance of each row.
template <class Real>
struct row_moments {
  xt::xarray<Real> mean, variance;
  std::vector<Real> deviations;  // of rows whose variance overflows

  /// sqrt(variance + epsilon). It is infinite if all elements are equal and epsilon is 0, so that
  /// nothing is divided by 0.
  Real divisor(std::size_t row, Real epsilon) const {
    if (variance.flat(row) > (std::numeric_limits<Real>::max)()) return deviations[row];
    const Real sum = variance.flat(row) + epsilon;
    return sum == 0 ? std::numeric_limits<Real>::infinity() : std::sqrt(sum);
  }

  row_moments(const xt::xarray<Real>& x, const matrix& m)
      : mean(zeros<Real>({m.rows})), variance(zeros<Real>({m.rows})), deviations(m.rows) {
    const Real n = static_cast<Real>(m.columns);
    for (std::size_t r = 0; r < m.rows; ++r) {
      // Adds up differences from the first element, so that the mean of equal elements is exact.
      const Real first = m.columns > 0 ? x.flat(r * m.columns) : Real(0);
      for (std::size_t c = 0; c < m.columns; ++c)
        mean.flat(r) += (x.flat(r * m.columns + c) - first) / n;
      mean.flat(r) += first;
      for (std::size_t c = 0; c < m.columns; ++c) {
        const Real off = x.flat(r * m.columns + c) - mean.flat(r);
        variance.flat(r) += off * off / n;
      }
      if (!(variance.flat(r) > (std::numeric_limits<Real>::max)())) continue;
      for (std::size_t c = 0; c < m.columns; ++c) {
        const Real off = x.flat(r * m.columns + c) - mean.flat(r);
        deviations[r] = std::hypot(deviations[r], off / std::sqrt(n));
      }
    }
  }
};

/// The shape of an output with one number per row: the recorded shape if it fits, else [rows].
template <class Real>
tensor_shape row_shape(const call_context<Real>& ctx, const char* slot, std::size_t rows) {
  const tensor_shape recorded = ctx.output_shape(slot);
  return size_of(recorded) == rows ? recorded : tensor_shape{rows};
}

/// Y = (X - Mean) / sqrt(Variance + epsilon) * Scale + Bias.
template <class Real>
void layer_norm_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const matrix m(shape_of(x), static_cast<std::size_t>(ctx.integer("begin_norm_axis", 1)));
  const Real epsilon = ctx.real_attribute("epsilon", 1e-5);
  row_moments<Real> moments(x, m);
  auto y = zeros<Real>(shape_of(x));
  const Real* scale = ctx.has("Scale") ? ctx.real("Scale").data() : nullptr;
  const Real* bias = ctx.has("Bias") ? ctx.real("Bias").data() : nullptr;
  for (std::size_t r = 0; r < m.rows; ++r) {
    const Real divisor = moments.divisor(r, epsilon);
    for (std::size_t c = 0; c < m.columns; ++c) {
      const std::size_t i = r * m.columns + c;
      Real value = (x.flat(i) - moments.mean.flat(r)) / divisor;
      if (scale != nullptr) value *= scale[c];
      if (bias != nullptr) value += bias[c];
      y.flat(i) = value;
    }
  }
  ctx.give("Y", std::move(y));
  // The recorded shape of Mean and Variance may keep the leading dimensions separate.
  if (ctx.wants("Mean")) ctx.give("Mean", reshaped(moments.mean, row_shape(ctx, "Mean", m.rows)));
  if (ctx.wants("Variance"))
    ctx.give("Variance", reshaped(moments.variance, row_shape(ctx, "Variance", m.rows)));
}

/// With h = (x - mean) / s and g = dy * scale: dx = (g - mean(g) - h * mean(g * h)) / s,
/// dScale = sum over rows of dy * h, dBias = sum over rows of dy.
template <class Real>
void layer_norm_gradient(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& d = ctx.real("Y@GRAD");
  const matrix m(shape_of(x), static_cast<std::size_t>(ctx.integer("begin_norm_axis", 1)));
  const Real epsilon = ctx.real_attribute("epsilon", 1e-5), n = static_cast<Real>(m.columns);
  const row_moments<Real> moments(x, m);
  auto dx = zeros<Real>(shape_of(x));
  auto dscale = zeros<double>({m.columns}), dbias = zeros<double>({m.columns});
  for (std::size_t r = 0; r < m.rows; ++r) {
    const Real s = moments.divisor(r, epsilon);
    const auto h = [&](std::size_t c) {
      return (x.flat(r * m.columns + c) - moments.mean.flat(r)) / s;
    };
    const auto g = [&](std::size_t c) {
      return d.flat(r * m.columns + c) * (ctx.has("Scale") ? ctx.real("Scale").flat(c) : Real(1));
    };
    Real mean_g = 0, mean_gh = 0;
    for (std::size_t c = 0; c < m.columns; ++c) {
      mean_g += g(c) / n;
      mean_gh += g(c) * h(c) / n;
      dscale.flat(c) += static_cast<double>(d.flat(r * m.columns + c) * h(c));
      dbias.flat(c) += static_cast<double>(d.flat(r * m.columns + c));
    }
    for (std::size_t c = 0; c < m.columns; ++c)
      dx.flat(r * m.columns + c) = (g(c) - mean_g - h(c) * mean_gh) / s;
  }
  ctx.give("X@GRAD", std::move(dx));
  ctx.give("Scale@GRAD", xt::xarray<Real>(xt::cast<Real>(dscale)));
  ctx.give("Bias@GRAD", xt::xarray<Real>(xt::cast<Real>(dbias)));
}

template <class Real>
void add_layer_norm_kernels(kernel_table<Real>& table) {
  table["layer_norm"] = layer_norm_forward<Real>;
  table["layer_norm_grad"] = layer_norm_gradient<Real>;
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

template <class Real>
void add_group_norm_kernels(kernel_table<Real>& table) {
  table["group_norm"] = group_norm_forward<Real>;
  table["group_norm_grad"] = group_norm_gradient<Real>;
  table["instance_norm"] = group_norm_forward<Real>;
  table["instance_norm_grad"] = group_norm_gradient<Real>;
}

}}}  // namespace lamina::kernel
