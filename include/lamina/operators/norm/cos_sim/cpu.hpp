// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/cos_sim/cpu.hpp - cosine similarity of rows: cos_sim.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/engine/cpu/vector/long_sums.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/norm/cos_sim/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

/// The lengths of two vectors, and their cosine.
template <class Real>
struct cosine_numbers {
  Real x_norm, y_norm, cosine;
};
/// The lengths of two vectors and their cosine, for vectors whose lengths or their product overflow
/// or underflow.
template <class Real>
LAMINA_COLD cosine_numbers<wide_number<Real>> wide_cosine(const Real* a, const Real* b, int n) {
  using wide = wide_number<Real>;
  wide aa = 0, bb = 0, ab = 0;
  for (int j = 0; j < n; ++j) {
    const wide x = static_cast<wide>(a[j]), y = static_cast<wide>(b[j]);
    aa += x * x;
    bb += y * y;
    ab += x * y;
  }
  const wide x_norm = std::sqrt(aa), y_norm = std::sqrt(bb);
  return {x_norm, y_norm, ab / (x_norm * y_norm)};
}
/// Adds the gradient of a cosine with respect to x: to += d / |x| (y / |y| - cos x / |x|). If `to`
/// is null, does nothing.
template <class Real, class Wide>
LAMINA_COLD void add_cosine_grad(const Real* x, Wide x_norm, const Real* y, Wide y_norm,
                                 Wide cosine, Real d, int n, Real* to) {
  for (int j = 0; j < n && to != nullptr; ++j)
    to[j] += static_cast<Real>(
        static_cast<Wide>(d) / x_norm *
        (static_cast<Wide>(y[j]) / y_norm - cosine * (static_cast<Wide>(x[j]) / x_norm)));
}

}  // namespace detail

template <>
struct call_kernel<operators::cos_sim> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);

 private:
  /// The cosine of a vector of length 0 with any vector is 0.
  template <class Real>
  static Real cosine(const Real* a, const Real* b, Real xn, Real yn, int n) {
    if (xn == 0 || yn == 0) return 0;
    const Real both = xn * yn;
    if (holds_squares(both)) return dot(a, b, n) / both;
    return static_cast<Real>(detail::wide_cosine(a, b, n).cosine);
  }
};

template <>
struct call_kernel<gradient_of<operators::cos_sim>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::cos_sim>::run(const call_context& c) {
  const operand x = c.input(0), y = c.input(1);
  const operand out = c.output(0), x_norm = c.output(1), y_norm = c.output(2);
  require_real<Real>(c, x);
  for (int r = 0; r < x.rows; ++r) {
    const int s = y.rows == 1 ? 0 : r;
    const Real* a = x.row<const Real>(r);
    const Real* b = y.row<const Real>(s);
    const Real xn = euclidean_norm(a, x.columns), yn = euclidean_norm(b, x.columns);
    if (out) *out.row<Real>(r) = cosine(a, b, xn, yn, x.columns);
    if (x_norm) *x_norm.row<Real>(r) = xn;
    if (y_norm) *y_norm.row<Real>(s) = yn;
  }
}
LAMINA_INSTANCE(void call_kernel<operators::cos_sim>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::cos_sim>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::cos_sim>>::run(const call_context& c) {
  const operand x = c.input(0), y = c.input(1), cosine = c.input(2), x_norm = c.input(3),
                y_norm = c.input(4), grad = c.input(5);
  const operand dx = c.output(0), dy = c.output(1);
  if (dy) clear(dy);
  // If all rows of x share one row of y, the gradient of y is a sum over the rows of x.
  const bool shared = dy && y.rows == 1;
  detail::blocked_sums<Real> of_y(shared ? dy.row<Real>(0) : nullptr, x.columns, c.scratch());
  for (int r = 0; r < x.rows; ++r) {
    of_y.begin_row();
    const int s = y.rows == 1 ? 0 : r;
    const Real* a = x.row<const Real>(r);
    const Real* b = y.row<const Real>(s);
    const Real d = *grad.row<const Real>(r), cos = *cosine.row<const Real>(r);
    const Real xn = *x_norm.row<const Real>(r), yn = *y_norm.row<const Real>(s);
    // A vector of length 0 has no direction, so its gradient is 0. All other lengths are valid,
    // however small.
    if (xn == 0 || yn == 0) {
      if (dx) std::fill_n(dx.row<Real>(r), x.columns, Real(0));
      continue;
    }
    const Real ix = 1 / xn, iy = 1 / yn;
    if (!is_finite(xn) || !is_finite(yn) || !is_finite(ix) || !is_finite(iy)) {
      const auto w = detail::wide_cosine(a, b, x.columns);
      if (dx) std::fill_n(dx.row<Real>(r), x.columns, Real(0));
      detail::add_cosine_grad(a, w.x_norm, b, w.y_norm, w.cosine, d, x.columns,
                              dx ? dx.row<Real>(r) : nullptr);
      detail::add_cosine_grad(b, w.y_norm, a, w.x_norm, w.cosine, d, x.columns,
                              dy ? dy.row<Real>(s) : nullptr);
      continue;
    }
    if (dx) {
      Real* const to = dx.row<Real>(r);
      for_each_position<Real>(x.columns, [=](std::ptrdiff_t j, auto like) {
        using number = decltype(like);
        store(to + j, number((load(b + j, like) * number(iy) -
                              load(a + j, like) * number(ix) * number(cos)) *
                             number(d * ix)));
      });
    }
    if (dy) {
      Real* const to = dy.row<Real>(s);
      for_each_position<Real>(x.columns, [=](std::ptrdiff_t j, auto like) {
        using number = decltype(like);
        store(to + j, number(load(to + j, like) + (load(a + j, like) * number(ix) -
                                                   load(b + j, like) * number(iy) * number(cos)) *
                                                      number(d * iy)));
      });
    }
  }
  if (shared) of_y.finish();
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::cos_sim>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::cos_sim>>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<gradient_of<operators::cos_sim>>::scratch(const call_context& c) {
  return in_floats<double>(padded(c.input(0).columns));
}
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<gradient_of<operators::cos_sim>>::scratch<float>(
    const call_context&))
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<gradient_of<operators::cos_sim>>::scratch<double>(
    const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
