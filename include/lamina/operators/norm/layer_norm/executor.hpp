// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/layer_norm/executor.hpp - operators over rows: softmax, layer_norm, norm,
// cos_sim, clip_by_norm.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <lamina/core/math.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/executor/kernel_table.hpp>

namespace lamina::inline LAMINA_ABI::kernel {

/// e^(x - max) / sum e^(x - max) along an axis.
template <class Real>
xt::xarray<Real> softmax_of(const xt::xarray<Real>& x, std::size_t axis) {
  const lines l(shape_of(x), axis);
  auto y = zeros<Real>(shape_of(x));
  for (std::size_t o = 0; o < l.outer; ++o)
    for (std::size_t i = 0; i < l.inner; ++i) {
      Real most = x.flat(l.at(o, 0, i)), sum = 0;
      for (std::size_t k = 1; k < l.n; ++k) most = std::max(most, x.flat(l.at(o, k, i)));
      for (std::size_t k = 0; k < l.n; ++k)
        sum += y.flat(l.at(o, k, i)) = std::exp(x.flat(l.at(o, k, i)) - most);
      for (std::size_t k = 0; k < l.n; ++k) y.flat(l.at(o, k, i)) /= sum;
    }
  return y;
}

template <class Real>
void softmax_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  ctx.give("Out", softmax_of<Real>(x, ctx.axis("axis", x.dimension(), -1)));
}

/// dx = y * (dy - sum dy * y).
template <class Real>
void softmax_gradient(call_context<Real>& ctx) {
  const auto& y = ctx.real("Out");
  const auto& d = ctx.real("Out@GRAD");
  const lines l(shape_of(y), ctx.axis("axis", y.dimension(), -1));
  auto dx = zeros<Real>(shape_of(y));
  for (std::size_t o = 0; o < l.outer; ++o)
    for (std::size_t i = 0; i < l.inner; ++i) {
      Real dot = 0;
      for (std::size_t k = 0; k < l.n; ++k)
        dot += math::share_of(y.flat(l.at(o, k, i)), d.flat(l.at(o, k, i)));
      for (std::size_t k = 0; k < l.n; ++k)
        dx.flat(l.at(o, k, i)) = math::share_of(y.flat(l.at(o, k, i)), d.flat(l.at(o, k, i)) - dot);
    }
  ctx.give("X@GRAD", std::move(dx));
}

/// Mean and biased variance of each row.
template <class Real>
struct row_moments {
  xt::xarray<Real> mean, variance;
  std::vector<Real> deviations;  // their squares may be more than a number holds

  /// sqrt(variance + epsilon); infinite for equal numbers without an epsilon, so that nothing is
  /// divided by 0.
  Real divisor(std::size_t row, Real epsilon) const {
    if (variance.flat(row) > std::numeric_limits<Real>::max()) return deviations[row];
    const Real sum = variance.flat(row) + epsilon;
    return sum == 0 ? std::numeric_limits<Real>::infinity() : std::sqrt(sum);
  }

  row_moments(const xt::xarray<Real>& x, const matrix& m)
      : mean(zeros<Real>({m.rows})), variance(zeros<Real>({m.rows})), deviations(m.rows) {
    const Real n = static_cast<Real>(m.columns);
    for (std::size_t r = 0; r < m.rows; ++r) {
      // Adds up the differences from the first number: the mean of equal numbers is then exact.
      const Real first = m.columns > 0 ? x.flat(r * m.columns) : Real(0);
      for (std::size_t c = 0; c < m.columns; ++c)
        mean.flat(r) += (x.flat(r * m.columns + c) - first) / n;
      mean.flat(r) += first;
      for (std::size_t c = 0; c < m.columns; ++c) {
        const Real off = x.flat(r * m.columns + c) - mean.flat(r);
        variance.flat(r) += off * off / n;
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
  for (std::size_t r = 0; r < m.rows; ++r)
    for (std::size_t c = 0; c < m.columns; ++c) {
      const std::size_t i = r * m.columns + c;
      Real value = (x.flat(i) - moments.mean.flat(r)) / moments.divisor(r, epsilon);
      if (ctx.has("Scale")) value *= ctx.real("Scale").flat(c);
      if (ctx.has("Bias")) value += ctx.real("Bias").flat(c);
      y.flat(i) = value;
    }
  ctx.give("Y", std::move(y));
  // Their recorded shape may keep the leading dimensions separate.
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

/// A sum of squares, which may be more, or less, than a Real holds.
using square_sum = long double;

/// The root of a sum of squares as a divisor: 0 / infinity is 0, and 0 / 0 would be NaN. The root
/// may overflow even if the numbers do not.
inline square_sum divisor_of(square_sum square) {
  return square == 0 ? std::numeric_limits<square_sum>::infinity() : std::sqrt(square);
}

/// Norm = sqrt(sum x^2 + epsilon) along an axis, Out = X / Norm.
template <class Real>
void norm_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  tensor_shape shape = shape_of(x);
  const std::size_t axis = ctx.axis("axis", shape.size(), -1);
  const lines l(shape, axis);
  const Real epsilon = ctx.real_attribute("epsilon", 1e-10);
  auto out = zeros<Real>(shape);
  shape[axis] = 1;
  auto norms = zeros<Real>(shape);
  for (std::size_t o = 0; o < l.outer; ++o)
    for (std::size_t i = 0; i < l.inner; ++i) {
      square_sum sum = epsilon;
      for (std::size_t k = 0; k < l.n; ++k)
        sum += square_sum(x.flat(l.at(o, k, i))) * x.flat(l.at(o, k, i));
      norms.flat(o * l.inner + i) = static_cast<Real>(std::sqrt(sum));
      for (std::size_t k = 0; k < l.n; ++k)
        out.flat(l.at(o, k, i)) = static_cast<Real>(x.flat(l.at(o, k, i)) / divisor_of(sum));
    }
  ctx.give("Norm", std::move(norms));
  ctx.give("Out", std::move(out));
}

/// dx = (dy - x * sum(dy * x) / norm^2) / norm.
template <class Real>
void norm_gradient(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& d = ctx.real("Out@GRAD");
  const lines l(shape_of(x), ctx.axis("axis", x.dimension(), -1));
  const Real epsilon = ctx.real_attribute("epsilon", 1e-10);
  auto dx = zeros<Real>(shape_of(x));
  for (std::size_t o = 0; o < l.outer; ++o)
    for (std::size_t i = 0; i < l.inner; ++i) {
      square_sum square = epsilon, dot = 0;
      for (std::size_t k = 0; k < l.n; ++k) {
        square += square_sum(x.flat(l.at(o, k, i))) * x.flat(l.at(o, k, i));
        dot += square_sum(d.flat(l.at(o, k, i))) * x.flat(l.at(o, k, i));
      }
      const square_sum norm = divisor_of(square);
      for (std::size_t k = 0; k < l.n; ++k)
        dx.flat(l.at(o, k, i)) = static_cast<Real>(
            (d.flat(l.at(o, k, i)) - x.flat(l.at(o, k, i)) / norm * (dot / norm)) / norm);
    }
  ctx.give("X@GRAD", std::move(dx));
}

/// The numbers of one row of cos_sim; all rows may share the only row of Y.
template <class Real>
struct cosine_row {
  square_sum x_norm = 0, y_norm = 0, cosine = 0;  // norms may be more than the largest Real
  std::size_t x_at, y_at;

  cosine_row(const xt::xarray<Real>& x, const xt::xarray<Real>& y, const matrix& m, std::size_t r)
      : x_at(r * m.columns), y_at(y.size() == m.columns ? 0 : x_at) {
    square_sum xx = 0, yy = 0, xy = 0;
    for (std::size_t c = 0; c < m.columns; ++c) {
      xx += square_sum(x.flat(x_at + c)) * x.flat(x_at + c);
      yy += square_sum(y.flat(y_at + c)) * y.flat(y_at + c);
      xy += square_sum(x.flat(x_at + c)) * y.flat(y_at + c);
    }
    x_norm = std::sqrt(xx);
    y_norm = std::sqrt(yy);
    // A vector of length 0 is like none.
    if (x_norm != 0 && y_norm != 0) cosine = xy / (x_norm * y_norm);
  }
};

/// Out = X . Y / (XNorm * YNorm) a row.
template <class Real>
void cos_sim_forward(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& y = ctx.real("Y");
  const matrix m(shape_of(x), 1);
  auto out = zeros<Real>({m.rows, 1}), xn = out, yn = zeros<Real>({y.shape()[0], 1});
  for (std::size_t r = 0; r < m.rows; ++r) {
    const cosine_row<Real> row(x, y, m, r);
    out.flat(r) = static_cast<Real>(row.cosine);
    xn.flat(r) = static_cast<Real>(row.x_norm);
    yn.flat(row.y_at / m.columns) = static_cast<Real>(row.y_norm);
  }
  ctx.give("Out", std::move(out));
  ctx.give("XNorm", std::move(xn));
  ctx.give("YNorm", std::move(yn));
}

/// dx = d * (y / |y| - cos * x / |x|) / |x|, and the same with x and y exchanged; 0 if one of them
/// has no direction.
template <class Real>
void cos_sim_gradient(call_context<Real>& ctx) {
  const auto& x = ctx.real("X");
  const auto& y = ctx.real("Y");
  const auto& d = ctx.real("Out@GRAD");
  const matrix m(shape_of(x), 1);
  auto dx = zeros<Real>(shape_of(x));
  auto dy = zeros<double>(shape_of(y));  // of a row for all, a sum over them
  for (std::size_t r = 0; r < m.rows; ++r) {
    const cosine_row<Real> row(x, y, m, r);
    if (row.x_norm == 0 || row.y_norm == 0) continue;
    for (std::size_t c = 0; c < m.columns; ++c) {
      const square_sum a = x.flat(row.x_at + c) / row.x_norm, b = y.flat(row.y_at + c) / row.y_norm;
      dx.flat(row.x_at + c) += static_cast<Real>(d.flat(r) / row.x_norm * (b - row.cosine * a));
      dy.flat(row.y_at + c) += static_cast<double>(d.flat(r) / row.y_norm * (a - row.cosine * b));
    }
  }
  ctx.give("X@GRAD", std::move(dx));
  ctx.give("Y@GRAD", std::move(dy));
}

/// sqrt(sum x^2).
template <class Real>
square_sum euclidean_norm(const xt::xarray<Real>& x) {
  square_sum sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += square_sum(x.flat(i)) * x.flat(i);
  return std::sqrt(sum);
}

/// Out = X if ||X|| <= max_norm, else X * max_norm / ||X||.
template <class Real>
void clip_by_norm_forward(call_context<Real>& ctx) {
  auto x = ctx.real("X");
  const square_sum most = ctx.real_attribute("max_norm"), norm = euclidean_norm<Real>(x);
  if (norm > most) x *= static_cast<Real>(most / norm);
  ctx.give("Out", std::move(x));
}

template <class Real>
void add_normalization_kernels(kernel_table<Real>& table) {
  table["softmax"] = softmax_forward<Real>;
  table["softmax_grad"] = softmax_gradient<Real>;
  table["layer_norm"] = layer_norm_forward<Real>;
  table["layer_norm_grad"] = layer_norm_gradient<Real>;
  table["norm"] = norm_forward<Real>;
  table["norm_grad"] = norm_gradient<Real>;
  table["cos_sim"] = cos_sim_forward<Real>;
  table["cos_sim_grad"] = cos_sim_gradient<Real>;
  table["clip_by_norm"] = clip_by_norm_forward<Real>;
}

}  // namespace lamina::inline LAMINA_ABI::kernel
