// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/cross_entropy/cpu.hpp - kernels of the cross entropy between probabilities
// or logits and labels.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/loss/cross_entropy/definition.hpp>
#if LAMINA_DEFINES
#include <algorithm>
#include <cmath>
#include <limits>

#include <lamina/core/numbers/math.hpp>
#include <lamina/engine/cpu/memory/label.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/activation/softmax/cpu.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

#if LAMINA_DEFINES

namespace detail {

template <class Real>
inline Real clipped_log(Real p) {
  return std::clamp(std::log(p), -Real(1e20), Real(1e20));
}
/// Returns d / p, or 0 if d is 0. The result is limited so that a sum of several quotients stays
/// finite. The gradient of a softmax multiplies the quotient by p again: if p is 0, an infinite
/// quotient would give NaN.
template <class Real>
inline Real finite_ratio(Real d, Real p) {
  constexpr Real most = (std::numeric_limits<Real>::max)() / 1024;
  return d == 0 ? Real(0) : std::clamp(d / p, -most, most);
}

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::cross_entropy> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::cross_entropy>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::softmax_with_cross_entropy> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<gradient_of<operators::softmax_with_cross_entropy>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::cross_entropy>::run(const call_context& c) {
  const operand in = c.input(0), label = c.input(1), out = c.output(0);
  require_real<Real>(c, in);
  const bool soft = c.flag(0);
  const label_reader labels(c, label, c.integer(1));
  const row_lines lines(in);
  for (int r = 0; r < lines.rows; ++r)
    for (int o = 0; o < lines.outer; ++o) {
      const Real* x = in.row<const Real>(r) + o * lines.n;
      Real cost = 0;
      if (soft) {
        const Real* l = label.row<const Real>(r) + o * lines.n;
        for (int j = 0; j < lines.n; ++j)
          cost -= l[j] == 0 ? Real(0) : l[j] * detail::clipped_log(x[j]);
      } else {
        const std::int64_t l = labels.at(r, o, lines.n);
        if (l >= 0) cost = -detail::clipped_log(x[l]);
      }
      out.row<Real>(r)[o] = cost;
    }
}
LAMINA_INSTANCE(void call_kernel<operators::cross_entropy>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::cross_entropy>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::cross_entropy>>::run(const call_context& c) {
  const operand in = c.input(0), label = c.input(1), grad = c.input(2), dx = c.output(0);
  if (!dx) return;
  const bool soft = c.flag(0);
  const label_reader labels(c, label, c.integer(1));
  const row_lines lines(in);
  for (int r = 0; r < lines.rows; ++r)
    for (int o = 0; o < lines.outer; ++o) {
      const Real* x = in.row<const Real>(r) + o * lines.n;
      Real* g = dx.row<Real>(r) + o * lines.n;
      const Real d = grad.row<const Real>(r)[o];
      if (soft) {
        const Real* l = label.row<const Real>(r) + o * lines.n;
        for (int j = 0; j < lines.n; ++j) g[j] = detail::finite_ratio(-d * l[j], x[j]);
        continue;
      }
      std::fill(g, g + lines.n, Real(0));
      const std::int64_t l = labels.at(r, o, lines.n);
      if (l >= 0) g[l] = detail::finite_ratio(-d, x[l]);
    }
}
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::cross_entropy>>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<gradient_of<operators::cross_entropy>>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::softmax_with_cross_entropy>::run(const call_context& c) {
  const operand logits = c.input(0), label = c.input(1), softmax = c.output(0), loss = c.output(1);
  require_real<Real>(c, logits);
  const bool soft = c.flag(0);
  const label_reader labels(c, label, c.integer(1));
  const row_lines lines(logits);
  const int n = lines.n;
  for (int r = 0; r < lines.rows; ++r)
    for (int o = 0; o < lines.outer; ++o) {
      const Real* x = logits.row<const Real>(r) + o * n;
      const auto [sum, largest] = detail::softmax_row(x, softmax.row<Real>(r) + o * n, n);
      // log(sum) is added to differences of logits, not to a logit, because a sum with a large
      // offset that all logits share would lose digits.
      const Real log_sum = std::log(sum);
      Real cost = 0;
      if (soft) {
        const Real* y = label.row<const Real>(r) + o * n;
        for (int j = 0; j < n; ++j)
          cost += y[j] == 0 ? Real(0) : y[j] * (log_sum + (largest - x[j]));
      } else {
        const std::int64_t l = labels.at(r, o, n);
        if (l >= 0) cost = log_sum + (largest - x[l]);
      }
      loss.row<Real>(r)[o] = cost;
    }
}
LAMINA_INSTANCE(
    void call_kernel<operators::softmax_with_cross_entropy>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<operators::softmax_with_cross_entropy>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::softmax_with_cross_entropy>>::run(const call_context& c) {
  const operand label = c.input(0), softmax = c.input(1), dloss = c.input(2), dx = c.output(0);
  if (!dx) return;
  const bool soft = c.flag(0);
  const label_reader labels(c, label, c.integer(1));
  const row_lines lines(dx);
  const int n = lines.n;
  for (int r = 0; r < lines.rows; ++r)
    for (int o = 0; o < lines.outer; ++o) {
      const Real g = dloss.row<const Real>(r)[o];
      const Real* p = softmax.row<const Real>(r) + o * n;
      Real* d = dx.row<Real>(r) + o * n;
      const std::int64_t l = soft ? 0 : labels.at(r, o, n);
      if (l < 0 || g == 0) {  // no gradient, even if logits are NaN or infinite
        std::fill_n(d, n, Real(0));
        continue;
      }
      if (soft) {
        const Real* y = label.row<const Real>(r) + o * n;
        const Real total = row_sum(y, n);
        for (int j = 0; j < n; ++j) d[j] = (p[j] * total - y[j]) * g;
        continue;
      }
      for (int j = 0; j < n; ++j) d[j] = p[j] * g;
      d[l] -= g;
    }
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::softmax_with_cross_entropy>>::run<float>(
    const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::softmax_with_cross_entropy>>::run<double>(
    const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
