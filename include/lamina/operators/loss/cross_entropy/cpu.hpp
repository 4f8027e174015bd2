// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/cross_entropy/cpu.hpp - cross_entropy, bpr_loss, label_smooth, and the
// divisor of sigmoid_cross_entropy_with_logits.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <lamina/engine/cpu/memory/label.hpp>
#include <lamina/operators/elementwise/cpu.hpp>
#include <lamina/operators/loss/cross_entropy/definition.hpp>
#include <lamina/operators/loss/pointwise/definition.hpp>
#include <lamina/operators/loss/row/definition.hpp>

namespace lamina::inline LAMINA_ABI::engine::cpu {

namespace detail {
template <class Real>
inline Real clipped_log(Real p) {
  return std::clamp(std::log(p), -Real(1e20), Real(1e20));
}
/// d / p, limited so that a sum of several such quotients stays finite; 0 where d is 0. The
/// gradient of softmax multiplies the quotient by p, and 0 times infinity would be NaN.
template <class Real>
inline Real finite_ratio(Real d, Real p) {
  constexpr Real most = std::numeric_limits<Real>::max() / 1024;
  return d == 0 ? Real(0) : std::clamp(d / p, -most, most);
}
}  // namespace detail

template <>
struct call_kernel<cross_entropy> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
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
};

template <>
struct call_kernel<gradient_of<cross_entropy>> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand in = c.input(0), label = c.input(1), slope = c.input(2), dx = c.output(0);
    if (!dx) return;
    const bool soft = c.flag(0);
    const label_reader labels(c, label, c.integer(1));
    const row_lines lines(in);
    for (int r = 0; r < lines.rows; ++r)
      for (int o = 0; o < lines.outer; ++o) {
        const Real* x = in.row<const Real>(r) + o * lines.n;
        Real* g = dx.row<Real>(r) + o * lines.n;
        const Real d = slope.row<const Real>(r)[o];
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
};

template <>
struct call_kernel<bpr_loss> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand in = c.input(0), out = c.output(0);
    require_real<Real>(c, in);
    const label_reader labels(c, c.input(1), -100);
    const row_lines lines(in);
    for (int r = 0; r < lines.rows; ++r)
      for (int o = 0; o < lines.outer; ++o) {
        const Real* x = in.row<const Real>(r) + o * lines.n;
        const std::int64_t l = labels.at(r, o, lines.n);
        Real cost = 0;
        for (int j = 0; l >= 0 && j < lines.n; ++j)
          if (j != l) {
            const Real d = x[j] - x[l];
            cost += std::max(d, Real(0)) + std::log1p(std::exp(-std::abs(d)));
          }
        out.row<Real>(r)[o] = lines.n > 1 ? cost / static_cast<Real>(lines.n - 1) : Real(0);
      }
  }
};

template <>
struct call_kernel<gradient_of<bpr_loss>> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand in = c.input(0), slope = c.input(2), dx = c.output(0);
    if (!dx) return;
    const label_reader labels(c, c.input(1), -100);
    const row_lines lines(in);
    for (int r = 0; r < lines.rows; ++r)
      for (int o = 0; o < lines.outer; ++o) {
        const Real* x = in.row<const Real>(r) + o * lines.n;
        Real* g = dx.row<Real>(r) + o * lines.n;
        std::fill(g, g + lines.n, Real(0));
        const std::int64_t l = labels.at(r, o, lines.n);
        if (l < 0 || lines.n < 2) continue;
        const Real d = slope.row<const Real>(r)[o] / static_cast<Real>(lines.n - 1);
        Real total = 0;
        for (int j = 0; j < lines.n; ++j) {
          if (j == l) continue;
          g[j] = d / (1 + std::exp(x[l] - x[j]));
          total += g[j];
        }
        g[l] = -total;
      }
  }
};

template <>
struct call_kernel<label_smooth> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand in = c.input(0), prior = c.input(1), out = c.output(0);
    require_real<Real>(c, in);
    const Real epsilon = static_cast<Real>(c.number(0));
    const row_lines lines(in);
    const Real even = Real(1) / static_cast<Real>(lines.n);
    // A prior of several dimensions, such as [1, K], has its numbers in one row too.
    const Real* p = prior ? prior.row<const Real>(0) : nullptr;
    for (int r = 0; r < lines.rows; ++r)
      for (int o = 0; o < lines.outer; ++o) {
        const Real* x = in.row<const Real>(r) + o * lines.n;
        Real* y = out.row<Real>(r) + o * lines.n;
        for (int j = 0; j < lines.n; ++j)
          y[j] = (1 - epsilon) * x[j] + epsilon * (p != nullptr ? p[j] : even);
      }
  }
};

template <>
struct call_kernel<gradient_of<label_smooth>> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand slope = c.input(0), dx = c.output(0);
    if (!dx) return;
    const Real factor = 1 - static_cast<Real>(c.number(0));
    for (int r = 0; r < dx.rows; ++r)
      for (int j = 0; j < dx.columns; ++j)
        dx.row<Real>(r)[j] = factor * slope.row<const Real>(r)[j];
  }
};

namespace detail {

/// The costs, then, when `normalize` is set, divided by how many labels are not ignored.
template <class Op, class Real>
void divided_by_labels(const call_context& c) {
  const operand label = c.input(1), out = c.output(0);
  if (!out) return;
  pointwise_output<Op, 0, Real>::run(c);
  if (!c.flag(1)) return;
  const Real ignored = static_cast<Real>(c.number(0));
  std::int64_t n = 0;
  for (int r = 0; r < label.rows; ++r)
    for (int j = 0; j < label.columns; ++j) n += label.row<const Real>(r)[j] != ignored ? 1 : 0;
  const Real factor = n == 0 ? Real(1) : Real(1) / static_cast<Real>(n);
  for (int r = 0; r < out.rows; ++r)
    for (int j = 0; j < out.columns; ++j) out.row<Real>(r)[j] *= factor;
}

}  // namespace detail

template <>
struct call_kernel<sigmoid_cross_entropy_with_logits> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    require_real<Real>(c, c.input(0));
    require_real<Real>(c, c.input(1));
    detail::divided_by_labels<sigmoid_cross_entropy_with_logits, Real>(c);
  }
};
template <>
struct call_kernel<gradient_of<sigmoid_cross_entropy_with_logits>> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    require_real<Real>(c, c.input(0));
    require_real<Real>(c, c.input(1));
    detail::divided_by_labels<gradient_of<sigmoid_cross_entropy_with_logits>, Real>(c);
  }
};

}  // namespace lamina::inline LAMINA_ABI::engine::cpu
