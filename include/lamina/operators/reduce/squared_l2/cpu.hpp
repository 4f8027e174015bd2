// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/squared_l2/cpu.hpp - the kernels of l1_norm, squared_l2_norm and
// squared_l2_distance: norms of arrays, and distances of rows.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/reduce/squared_l2/definition.hpp>
#if LAMINA_DEFINES
#include <cmath>

#include <lamina/core/numbers/math.hpp>
#include <lamina/engine/cpu/vector/long_sums.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

template <>
struct call_kernel<operators::l1_norm> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};
template <>
struct call_kernel<gradient_of<operators::l1_norm>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::squared_l2_norm> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};
template <>
struct call_kernel<gradient_of<operators::squared_l2_norm>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::squared_l2_distance> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};
template <>
struct call_kernel<gradient_of<operators::squared_l2_distance>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::l1_norm>::run(const call_context& c) {
  const operand x = c.input(0);
  require_real<Real>(c, x);
  double sum = 0;
  for (int r = 0; r < x.rows; ++r) {
    for (int j = 0; j < x.columns; ++j)
      sum += static_cast<double>(std::abs(x.row<const Real>(r)[j]));
  }
  *c.output(0).row<Real>(0) = static_cast<Real>(sum);
}
LAMINA_INSTANCE(void call_kernel<operators::l1_norm>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::l1_norm>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::l1_norm>>::run(const call_context& c) {
  const operand x = c.input(0), dx = c.output(0);
  if (!dx) return;
  const Real grad = *c.input(1).row<const Real>(0);
  for (int r = 0; r < x.rows; ++r)
    for (int j = 0; j < x.columns; ++j)
      dx.row<Real>(r)[j] = grad * math::sign(x.row<const Real>(r)[j]);
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::l1_norm>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::l1_norm>>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::squared_l2_norm>::run(const call_context& c) {
  const operand x = c.input(0);
  require_real<Real>(c, x);
  double sum = 0;
  for (int r = 0; r < x.rows; ++r)
    sum += static_cast<double>(squared_distance(x.row<const Real>(r), 0, x.columns));
  *c.output(0).row<Real>(0) = static_cast<Real>(sum);
}
LAMINA_INSTANCE(void call_kernel<operators::squared_l2_norm>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::squared_l2_norm>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::squared_l2_norm>>::run(const call_context& c) {
  const operand x = c.input(0), dx = c.output(0);
  if (!dx) return;
  const Real grad = 2 * *c.input(1).row<const Real>(0);
  for (int r = 0; r < x.rows; ++r)
    for (int j = 0; j < x.columns; ++j) dx.row<Real>(r)[j] = grad * x.row<const Real>(r)[j];
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::squared_l2_norm>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::squared_l2_norm>>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::squared_l2_distance>::run(const call_context& c) {
  const operand x = c.input(0), y = c.input(1), difference = c.output(0), out = c.output(1);
  require_real<Real>(c, x);
  for (int r = 0; r < x.rows; ++r) {
    const Real* const left = x.row<const Real>(r);
    const Real* const right = y.row<const Real>(y.rows == 1 ? 0 : r);
    Real sum = 0;
    for (int j = 0; j < x.columns; ++j) {
      const Real d = left[j] - right[j];
      if (difference) difference.row<Real>(r)[j] = d;
      sum += d * d;
    }
    if (out) *out.row<Real>(r) = sum;
  }
}
LAMINA_INSTANCE(void call_kernel<operators::squared_l2_distance>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::squared_l2_distance>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::squared_l2_distance>>::run(const call_context& c) {
  const operand y = c.input(1), difference = c.input(2), grad = c.input(3);
  const operand dx = c.output(0), dy = c.output(1);
  const bool shared = dy && dy.rows == 1 && y.rows == 1;
  if (shared) clear(dy);
  detail::blocked_sums<Real> of_y(shared ? dy.row<Real>(0) : nullptr, dy.columns, c.scratch());
  for (int r = 0; r < difference.rows; ++r) {
    of_y.begin_row();
    const Real twice = 2 * *grad.row<const Real>(r);
    const Real* const d = difference.row<const Real>(r);
    for (int j = 0; j < difference.columns; ++j) {
      const Real g = twice * d[j];
      if (dx) dx.row<Real>(r)[j] = g;
      if (shared)
        dy.row<Real>(0)[j] -= g;
      else if (dy)
        dy.row<Real>(r)[j] = -g;
    }
  }
  of_y.finish();
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::squared_l2_distance>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::squared_l2_distance>>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<gradient_of<operators::squared_l2_distance>>::scratch(
    const call_context& c) {
  return in_floats<double>(padded(c.input(2).columns));
}
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<gradient_of<operators::squared_l2_distance>>::scratch<float>(
        const call_context&))
LAMINA_INSTANCE(
    std::ptrdiff_t call_kernel<gradient_of<operators::squared_l2_distance>>::scratch<double>(
        const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
