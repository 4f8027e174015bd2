// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/norm/cpu.hpp - normalisation of vectors along one dimension to length 1.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/norm/norm/definition.hpp>
#if LAMINA_DEFINES
#include <cmath>

#include <lamina/engine/cpu/vector/row_math.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

#if LAMINA_DEFINES

namespace detail {

/// The element that belongs to vector `part` of row r, in an array with one element per vector and
/// any shape. A row of X has `outer` vectors.
template <class Real>
inline Real& part_number(const operand& o, int outer, int r, int part) {
  const std::ptrdiff_t i = static_cast<std::ptrdiff_t>(r) * outer + part;
  return o.row<Real>(static_cast<int>(i / o.columns))[i % o.columns];
}

/// The number of lanes of a vector type; 1 for a scalar.
template <class T>
inline constexpr int lanes_of_number = 1;
template <class Real>
inline constexpr int lanes_of_number<simd::batch<Real>> = lanes_in<Real>;

/// Whether holds_squares is true for each lane.
template <class T>
LAMINA_INLINE bool all_hold_squares(T sum) {
  if constexpr (lanes_of_number<T> == 1) {
    return holds_squares(sum);
  } else {
    using limits = std::numeric_limits<typename T::value_type>;
    return simd::all(sum >= T((limits::min)() / limits::epsilon()) && sum <= T((limits::max)()));
  }
}

/// Computes y = x / |x| for a vector x whose squares, or the root of their sum, overflow or
/// underflow. Returns |x|, which may be infinite.
template <class Real>
LAMINA_COLD Real wide_direction(const Real* x, std::ptrdiff_t x_step, int n, Real epsilon, Real* y,
                                std::ptrdiff_t y_step) {
  using wide = wide_number<Real>;
  wide square = static_cast<wide>(epsilon);
  for (int k = 0; k < n; ++k)
    square += static_cast<wide>(x[k * x_step]) * static_cast<wide>(x[k * x_step]);
  const wide whole = std::sqrt(square), divisor = whole == 0 ? wide(1) : whole;
  for (int k = 0; k < n; ++k)
    y[k * y_step] = static_cast<Real>(static_cast<wide>(x[k * x_step]) / divisor);
  return static_cast<Real>(whole);
}
/// The gradient of wide_direction: g = (d - x (x . d) / |x|^2) / |x|. A vector of length 0 has no
/// direction, and its gradient is 0.
template <class Real>
LAMINA_COLD void wide_direction_gradient(const Real* x, std::ptrdiff_t x_step, const Real* d,
                                         std::ptrdiff_t d_step, int n, Real epsilon, Real* g,
                                         std::ptrdiff_t g_step) {
  using wide = wide_number<Real>;
  const auto at = [](const Real* from, std::ptrdiff_t i) { return static_cast<wide>(from[i]); };
  wide square = static_cast<wide>(epsilon), product = 0;
  for (int k = 0; k < n; ++k) {
    square += at(x, k * x_step) * at(x, k * x_step);
    product += at(x, k * x_step) * at(d, k * d_step);
  }
  const wide whole = std::sqrt(square);
  for (int k = 0; k < n; ++k)
    g[k * g_step] =
        whole == 0
            ? Real(0)
            : static_cast<Real>(
                  (at(d, k * d_step) - at(x, k * x_step) / whole * (product / whole)) / whole);
}

/// Whether all lanes are finite.
template <class T>
LAMINA_INLINE bool all_finite(T x) {
  if constexpr (lanes_of_number<T> == 1)
    return is_finite(x);
  else
    return simd::all(simd::abs(x) <= T((std::numeric_limits<typename T::value_type>::max)()));
}

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::norm> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::norm>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::norm>::run(const call_context& c) {
  const operand in = c.input(0), norms = c.output(0), out = c.output(1);
  require_real<Real>(c, in);
  const array_layout shape = layout_of(in);
  const int axis = dimension_of(c, c.integer(0), shape.rank);
  const line_layout from(shape, axis), to(layout_of(out), axis), length(layout_of(norms), axis);
  const Real epsilon = static_cast<Real>(c.number(1));
  for (int r = 0; r < from.rows; ++r)
    for (int o = 0; o < from.outer; ++o) {
      const Real* x = in.row<const Real>(0) + from.at(r, o);
      Real* y = out.row<Real>(0) + to.at(r, o);
      Real* size = norms.row<Real>(0) + length.at(r, o);
      if (from.inner == 1 && from.step == 1) {
        const Real square = dot(x, x, from.n) + epsilon;
        if (!holds_squares(square)) {
          *size = detail::wide_direction(x, 1, from.n, epsilon, y, 1);
          continue;
        }
        *size = std::sqrt(square);
        for (int k = 0; k < from.n; ++k) y[k] = x[k] / *size;
        continue;
      }
      for_each_position<Real>(from.inner, [&](std::ptrdiff_t i, auto like) {
        using number = decltype(like);
        number square(epsilon);
        for (int k = 0; k < from.n; ++k) {
          const number v = load(x + i + k * from.step, like);
          square += v * v;
        }
        if (!detail::all_hold_squares(square)) {
          for (int lane = 0; lane < detail::lanes_of_number<number>; ++lane)
            size[i + lane] = detail::wide_direction(x + i + lane, from.step, from.n, epsilon,
                                                    y + i + lane, to.step);
          return;
        }
        const number whole = math::sqrt(square);
        store(size + i, whole);
        for (int k = 0; k < from.n; ++k)
          store(y + i + k * to.step, number(load(x + i + k * from.step, like) / whole));
      });
    }
}
LAMINA_INSTANCE(void call_kernel<operators::norm>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::norm>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::norm>>::run(const call_context& c) {
  const operand in = c.input(0), norms = c.input(1), grad = c.input(2), dx = c.output(0);
  if (!dx) return;
  const array_layout shape = layout_of(in);
  const int axis = dimension_of(c, c.integer(0), shape.rank);
  const Real epsilon = static_cast<Real>(c.number(1));
  const line_layout x_lines(shape, axis), length(layout_of(norms), axis),
      d_lines(layout_of(grad), axis), g_lines(layout_of(dx), axis);
  for (int r = 0; r < x_lines.rows; ++r)
    for (int o = 0; o < x_lines.outer; ++o) {
      const Real* x = in.row<const Real>(0) + x_lines.at(r, o);
      const Real* d = grad.row<const Real>(0) + d_lines.at(r, o);
      const Real* size = norms.row<const Real>(0) + length.at(r, o);
      Real* g = dx.row<Real>(0) + g_lines.at(r, o);
      if (x_lines.inner == 1 && x_lines.step == 1) {
        const Real inverse = 1 / *size;
        const Real part = dot(x, d, x_lines.n) * inverse * inverse;
        if (!is_finite(part) || !holds_squares(*size * *size)) {
          detail::wide_direction_gradient(x, 1, d, 1, x_lines.n, epsilon, g, 1);
          continue;
        }
        for (int k = 0; k < x_lines.n; ++k) g[k] = (d[k] - x[k] * part) * inverse;
        continue;
      }
      for_each_position<Real>(x_lines.inner, [&](std::ptrdiff_t i, auto like) {
        using number = decltype(like);
        const number whole = load(size + i, like);
        number product(Real(0));
        for (int k = 0; k < x_lines.n; ++k)
          product += load(x + i + k * x_lines.step, like) * load(d + i + k * d_lines.step, like);
        const number inverse = number(Real(1)) / whole;
        const number part = product * inverse * inverse;
        if (!detail::all_finite(part) || !detail::all_hold_squares(number(whole * whole))) {
          for (int lane = 0; lane < detail::lanes_of_number<number>; ++lane)
            detail::wide_direction_gradient(x + i + lane, x_lines.step, d + i + lane, d_lines.step,
                                            x_lines.n, epsilon, g + i + lane, g_lines.step);
          return;
        }
        for (int k = 0; k < x_lines.n; ++k)
          store(g + i + k * g_lines.step, number((load(d + i + k * d_lines.step, like) -
                                                  load(x + i + k * x_lines.step, like) * part) *
                                                 inverse));
      });
    }
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::norm>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::norm>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
