// SPDX-License-Identifier: Apache-2.0
// lamina/operators/activation/prelu_maxout/cpu.hpp - kernels of prelu and maxout, activations that
// are not pointwise.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/engine/common/real_numbers.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/activation/prelu_maxout/common.hpp>
#include <lamina/operators/activation/prelu_maxout/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

#if LAMINA_DEFINES

namespace detail {

/// Calls f(index of the slope, first column, number of columns) for each slice of a row whose
/// elements share one slope of prelu.
template <class F>
void for_each_slope(int width, int columns, F&& f) {
  for (int j = 0, i = 0; j < columns; j += width, ++i) f(i, j, width);
}

/// Returns element i of Alpha in row-major order.
template <class Real>
inline Real& alpha_at(const operand& alpha, int i) {
  return alpha.row<Real>(i / alpha.columns)[i % alpha.columns];
}

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::prelu> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::prelu>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  /// Returns the scratch memory for the gradient of Alpha, which is added up in double.
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);

 private:
  LAMINA_API static int slopes_of(const call_context& c);
};

template <>
struct call_kernel<operators::maxout> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  /// Element j of Out is the maximum of several elements of X. Returns the index of the first of
  /// these elements of X.
  static std::ptrdiff_t first_of(int j, int inner, int groups) {
    return static_cast<std::ptrdiff_t>(j / inner) * groups * inner + j % inner;
  }
};

/// The gradient of an element of Out goes to the largest element of X from which it was taken; if
/// several are equally large, to the first of them.
template <>
struct call_kernel<gradient_of<operators::maxout>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::prelu>::run(const call_context& c) {
  const operand in = c.input(0), alpha = c.input(1), out = c.output(0);
  require_real<Real>(c, in);
  const int width = slope_width(c, in);
  for (int r = 0; r < in.rows; ++r) {
    const Real* x = in.row<const Real>(r);
    Real* y = out.row<Real>(r);
    detail::for_each_slope(width, in.columns, [&](int i, int first, int n) {
      const Real a = detail::alpha_at<Real>(alpha, i);
      for (int j = first; j < first + n; ++j) y[j] = x[j] > 0 ? x[j] : a * x[j];
    });
  }
}
LAMINA_INSTANCE(void call_kernel<operators::prelu>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::prelu>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::prelu>>::run(const call_context& c) {
  const operand in = c.input(0), alpha = c.input(1), grad = c.input(2);
  const operand dx = c.output(0), dalpha = c.output(1);
  const int width = slope_width(c, in);
  double* const sums = numbers_at<double>(c.scratch());
  const int slopes = slopes_of(c);
  std::fill_n(sums, slopes, 0.0);
  for (int r = 0; r < in.rows; ++r) {
    const Real* x = in.row<const Real>(r);
    const Real* d = grad.row<const Real>(r);
    detail::for_each_slope(width, in.columns, [&](int i, int first, int n) {
      const Real a = detail::alpha_at<Real>(alpha, i);
      double total = 0;
      for (int j = first; j < first + n; ++j)
        total += x[j] > 0 ? 0.0 : static_cast<double>(d[j] * x[j]);
      sums[i] += total;
      if (!dx) return;
      Real* g = dx.row<Real>(r);
      for (int j = first; j < first + n; ++j) g[j] = x[j] > 0 ? d[j] : a * d[j];
    });
  }
  if (!dalpha) return;
  clear(dalpha);
  for (int i = 0; i < slopes; ++i) detail::alpha_at<Real>(dalpha, i) = static_cast<Real>(sums[i]);
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::prelu>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::prelu>>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<gradient_of<operators::prelu>>::scratch(const call_context& c) {
  return in_floats<double>(slopes_of(c));
}
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<gradient_of<operators::prelu>>::scratch<float>(const call_context&))
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<gradient_of<operators::prelu>>::scratch<double>(const call_context&))

int call_kernel<gradient_of<operators::prelu>>::slopes_of(const call_context& c) {
  const int width = slope_width(c, c.input(0));
  return width > 0 ? c.input(0).columns / width : 0;
}

template <class Real>
void call_kernel<operators::maxout>::run(const call_context& c) {
  const operand in = c.input(0), out = c.output(0);
  require_real<Real>(c, in);
  const int groups = c.integer(0), inner = channel_width(in);
  for (int r = 0; r < out.rows; ++r)
    for (int j = 0; j < out.columns; ++j) {
      const Real* x = in.row<const Real>(r) + first_of(j, inner, groups);
      Real best = *x;
      for (int g = 1; g < groups; ++g) best = math::maximum(best, x[g * inner]);
      out.row<Real>(r)[j] = best;
    }
}
LAMINA_INSTANCE(void call_kernel<operators::maxout>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::maxout>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::maxout>>::run(const call_context& c) {
  const operand in = c.input(0), out = c.input(1), grad = c.input(2), dx = c.output(0);
  if (!dx) return;
  using forward = call_kernel<operators::maxout>;
  const int groups = c.integer(0), inner = channel_width(in);
  clear(dx);
  for (int r = 0; r < out.rows; ++r)
    for (int j = 0; j < out.columns; ++j) {
      const std::ptrdiff_t first = forward::first_of(j, inner, groups);
      const Real* x = in.row<const Real>(r) + first;
      int g = 0;
      while (g + 1 < groups && !math::is_same(x[g * inner], out.row<const Real>(r)[j])) ++g;
      dx.row<Real>(r)[first + g * inner] = grad.row<const Real>(r)[j];
    }
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::maxout>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::maxout>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
