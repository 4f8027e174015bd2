// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/in_batch/cpu.hpp - in_batch_cross_entropy: classifies each row of a
// mini-batch among all rows of the mini-batch.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/loss/in_batch/definition.hpp>
#if LAMINA_DEFINES
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <lamina/engine/cpu/vector/row_math.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

#if LAMINA_DEFINES

namespace detail {

/// Whether rows i and j have the same label. Without labels, each row is a separate class.
inline bool is_one_class(const operand& label, int i, int j) {
  return label ? *label.row<const std::int64_t>(i) == *label.row<const std::int64_t>(j) : i == j;
}
/// Returns the target probability of a pair with row i: 1 / the number of rows with its label.
template <class Real>
Real target_of_class(const operand& label, int i, int rows) {
  int equal = 0;
  for (int j = 0; j < rows; ++j) equal += is_one_class(label, i, j) ? 1 : 0;
  return Real(1) / static_cast<Real>(equal);
}
/// to += factor * from, for n elements.
template <class Real>
void add_multiple(Real factor, const Real* from, int n, Real* to) {
  for (int k = 0; k < n; ++k) to[k] += factor * from[k];
}

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::in_batch_cross_entropy> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  LAMINA_API static std::ptrdiff_t scratch(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::in_batch_cross_entropy>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::in_batch_cross_entropy>::run(const call_context& c) {
  const operand x = c.input(0), y = c.input(1), label = c.input(2);
  const operand log_sum = c.output(0), out = c.output(1);
  require_real<Real>(c, x);
  Real* const score = numbers_at<Real>(c.scratch());
  for (int i = 0; i < x.rows; ++i) {
    const Real* const a = x.row<const Real>(i);
    for (int j = 0; j < x.rows; ++j) score[j] = dot(a, y.row<const Real>(j), x.columns);
    Real most = score[0], sum = 0, right = 0;
    for (int j = 1; j < x.rows; ++j) most = score[j] > most ? score[j] : most;
    for (int j = 0; j < x.rows; ++j) {
      sum += std::exp(score[j] - most);
      if (detail::is_one_class(label, i, j)) right += score[j];
    }
    const Real log_of_sum = std::log(sum);
    if (log_sum) log_sum.row<Real>(i)[0] = most, log_sum.row<Real>(i)[1] = log_of_sum;
    if (out)
      *out.row<Real>(i) =
          log_of_sum + (most - right * detail::target_of_class<Real>(label, i, x.rows));
  }
}
LAMINA_INSTANCE(
    void call_kernel<operators::in_batch_cross_entropy>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<operators::in_batch_cross_entropy>::run<double>(const call_context&))

std::ptrdiff_t call_kernel<operators::in_batch_cross_entropy>::scratch(const call_context& c) {
  return 2 * c.input(0).rows;
}

template <class Real>
void call_kernel<gradient_of<operators::in_batch_cross_entropy>>::run(const call_context& c) {
  const operand x = c.input(0), y = c.input(1), label = c.input(2);
  const operand log_sum = c.input(3), grad = c.input(4);
  const operand dx = c.output(0), dy = c.output(1);
  for (int r = 0; r < x.rows; ++r) {
    if (dx) std::fill_n(dx.row<Real>(r), x.columns, Real(0));
    if (dy) std::fill_n(dy.row<Real>(r), x.columns, Real(0));
  }
  for (int i = 0; i < x.rows; ++i) {
    const Real* const a = x.row<const Real>(i);
    const Real d = *grad.row<const Real>(i);
    const Real* const sum = log_sum.row<const Real>(i);
    const Real target_i = detail::target_of_class<Real>(label, i, x.rows);
    for (int j = 0; j < x.rows; ++j) {
      const Real* const b = y.row<const Real>(j);
      const Real target = detail::is_one_class(label, i, j) ? target_i : Real(0);
      const Real g = d * (std::exp(dot(a, b, x.columns) - sum[0] - sum[1]) - target);
      if (dx) detail::add_multiple(g, b, x.columns, dx.row<Real>(i));
      if (dy) detail::add_multiple(g, a, x.columns, dy.row<Real>(j));
    }
  }
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::in_batch_cross_entropy>>::run<float>(
    const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::in_batch_cross_entropy>>::run<double>(
    const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
