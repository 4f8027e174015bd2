// SPDX-License-Identifier: Apache-2.0
// lamina/operators/activation/softmax/cpu.hpp - kernels of the softmax along one dimension.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/activation/softmax/definition.hpp>
#if LAMINA_DEFINES
#include <cmath>

#include <lamina/core/numbers/math.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

#if LAMINA_DEFINES

namespace detail {

/// Returns the largest of n numbers. Compares SIMD vectors, because n scalar comparisons, each of
/// which waits for the previous one, would take longer than the n exponentials of the softmax.
template <class Real>
LAMINA_INLINE Real largest_of(const Real* x, int n) {
  using vector = vector_in<Real>;
  constexpr int lanes = lanes_in<Real>;
  Real largest = x[0];
  int j = 1;
  if (n >= lanes) {
    vector most = vector::load_unaligned(x);
    for (j = lanes; j + lanes <= n; j += lanes)
      most = (math::max)(most, vector::load_unaligned(x + j));
    alignas(64) Real part[bound(lanes)];
    most.store_aligned(part);
    for (const Real p : part) largest = p > largest ? p : largest;
  }
  for (; j < n; ++j) largest = x[j] > largest ? x[j] : largest;
  return largest;
}

/// The divisor of a softmax, sum * e^largest, where `sum` is the sum of e^(x - largest).
template <class Real>
struct softmax_sum {
  Real sum, largest;
};

/// Computes the gradient g of a softmax over n elements with output y and gradient d, if some
/// elements of d are not finite.
template <class Real>
LAMINA_COLD void softmax_grads(const Real* y, const Real* d, Real* g, int n);

/// Computes y = the softmax of the n numbers at x. Returns its divisor.
template <class Real>
LAMINA_KERNEL softmax_sum<Real> softmax_row(const Real* x, Real* y, int n);

/// Computes the softmax of a line of n elements that are x_step apart in x and y_step apart in y.
/// If `like` is a vector, computes as many neighbouring lines together as the vector has elements.
template <class Real, class V>
LAMINA_INLINE void softmax_line(const Real* x, std::ptrdiff_t x_step, Real* y,
                                std::ptrdiff_t y_step, int n, V like) {
  V largest = load(x, like);
  for (int k = 1; k < n; ++k) largest = (math::max)(largest, load(x + k * x_step, like));
  V sum(Real(0));
  for (int k = 0; k < n; ++k) {
    const V e = math::exp_in_sum(V(load(x + k * x_step, like) - largest));
    store(y + k * y_step, e);
    sum += e;
  }
  const V factor = V(Real(1)) / sum;
  for (int k = 0; k < n; ++k) store(y + k * y_step, V(load(y + k * y_step, like) * factor));
}

#if LAMINA_DEFINES

template <class Real>
void softmax_grads(const Real* y, const Real* d, Real* g, int n) {
  Real total = 0;
  for (int k = 0; k < n; ++k) total += math::multiply_no_nan(y[k], d[k]);
  for (int k = 0; k < n; ++k) g[k] = math::multiply_no_nan(y[k], d[k] - total);
}
LAMINA_INSTANCE(void softmax_grads<float>(const float*, const float*, float*, int))
LAMINA_INSTANCE(void softmax_grads<double>(const double*, const double*, double*, int))

template <class Real>
softmax_sum<Real> softmax_row(const Real* x, Real* y, int n) {
  using vector = vector_in<Real>;
  constexpr int lanes = lanes_in<Real>;
  const Real largest = largest_of(x, n);
  int j = 0;
  vector sums(Real(0));
  const vector shift(largest);
  for (; j + lanes <= n; j += lanes) {
    const vector e = math::exp_in_sum(vector(vector::load_unaligned(x + j) - shift));
    e.store_unaligned(y + j);
    sums += e;
  }
  Real sum = sum_of(sums);
  for (; j < n; ++j) sum += y[j] = std::exp(x[j] - largest);
  const Real factor = Real(1) / sum;
  for (j = 0; j < n; ++j) y[j] *= factor;
  return {sum, largest};
}
LAMINA_INSTANCE(softmax_sum<float> softmax_row<float>(const float*, float*, int))
LAMINA_INSTANCE(softmax_sum<double> softmax_row<double>(const double*, double*, int))

#endif  // LAMINA_DEFINES

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::softmax> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::softmax>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::softmax>::run(const call_context& c) {
  const operand in = c.input(0), out = c.output(0);
  require_real<Real>(c, in);
  const array_layout shape = layout_of(in);
  const int axis = dimension_of(c, c.integer(0), shape.rank);
  const line_layout from(shape, axis), to(layout_of(out), axis);
  if (from.n == 0) return;
  for (int r = 0; r < from.rows; ++r)
    for (int o = 0; o < from.outer; ++o) {
      const Real* x = in.row<const Real>(0) + from.at(r, o);
      Real* y = out.row<Real>(0) + to.at(r, o);
      if (from.inner == 1 && from.step == 1) {
        detail::softmax_row(x, y, from.n);
        continue;
      }
      for_each_position<Real>(from.inner, [&](std::ptrdiff_t i, auto like) {
        detail::softmax_line(x + i, from.step, y + i, to.step, from.n, like);
      });
    }
}
LAMINA_INSTANCE(void call_kernel<operators::softmax>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::softmax>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::softmax>>::run(const call_context& c) {
  const operand out = c.input(0), grad = c.input(1), dx = c.output(0);
  if (!dx) return;
  const array_layout shape = layout_of(out);
  const int axis = dimension_of(c, c.integer(0), shape.rank);
  const line_layout y_lines(shape, axis), d_lines(layout_of(grad), axis),
      x_lines(layout_of(dx), axis);
  for (int r = 0; r < y_lines.rows; ++r)
    for (int o = 0; o < y_lines.outer; ++o) {
      const Real* y = out.row<const Real>(0) + y_lines.at(r, o);
      const Real* d = grad.row<const Real>(0) + d_lines.at(r, o);
      Real* g = dx.row<Real>(0) + x_lines.at(r, o);
      if (y_lines.inner == 1 && y_lines.step == 1) {
        const Real total = dot(y, d, y_lines.n);
        if (total - total == 0)
          for (int k = 0; k < y_lines.n; ++k) g[k] = y[k] * (d[k] - total);
        else
          detail::softmax_grads(y, d, g, y_lines.n);
        continue;
      }
      for_each_position<Real>(y_lines.inner, [&](std::ptrdiff_t i, auto like) {
        using number = decltype(like);
        number total(Real(0));
        for (int k = 0; k < y_lines.n; ++k)
          total += math::multiply_no_nan(number(load(y + i + k * y_lines.step, like)),
                                         number(load(d + i + k * d_lines.step, like)));
        for (int k = 0; k < y_lines.n; ++k)
          store(g + i + k * x_lines.step,
                math::multiply_no_nan(number(load(y + i + k * y_lines.step, like)),
                                      number(load(d + i + k * d_lines.step, like) - total)));
      });
    }
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::softmax>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::softmax>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
