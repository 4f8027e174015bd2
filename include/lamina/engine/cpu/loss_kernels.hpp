// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/loss_kernels.hpp - cross_entropy, bpr_loss, label_smooth, and the divisor of
// sigmoid_cross_entropy_with_logits.
#pragma once

#include <algorithm>
#include <cmath>

#include <lamina/engine/cpu/label.hpp>
#include <lamina/engine/cpu/pointwise_kernels.hpp>
#include <lamina/operators/cross_entropy.hpp>
#include <lamina/operators/loss.hpp>
#include <lamina/operators/row_loss.hpp>

namespace lamina::engine::cpu {

namespace detail {
inline float clipped_log(float p) { return std::clamp(std::log(p), -1e20f, 1e20f); }
}  // namespace detail

template <>
struct call_kernel<cross_entropy> {
  template <class = void>
  static void run(const call_context& c) {
    const operand in = c.input(0), label = c.input(1), out = c.output(0);
    require_float(c, in);
    const bool soft = c.flag(0);
    const label_reader labels(c, label, c.integer(1));
    const row_lines lines(in);
    for (int r = 0; r < lines.rows; ++r)
      for (int o = 0; o < lines.outer; ++o) {
        const float* x = in.row<const float>(r) + o * lines.n;
        float cost = 0;
        if (soft) {
          const float* l = label.row<const float>(r) + o * lines.n;
          for (int j = 0; j < lines.n; ++j) cost -= l[j] * detail::clipped_log(x[j]);
        } else {
          const std::int64_t l = labels.at(r, o, lines.n);
          if (l >= 0) cost = -detail::clipped_log(x[l]);
        }
        out.row<float>(r)[o] = cost;
      }
  }
};

template <>
struct call_kernel<gradient_of<cross_entropy>> {
  template <class = void>
  static void run(const call_context& c) {
    const operand in = c.input(0), label = c.input(1), slope = c.input(2), dx = c.output(0);
    if (!dx) return;
    const bool soft = c.flag(0);
    const label_reader labels(c, label, c.integer(1));
    const row_lines lines(in);
    for (int r = 0; r < lines.rows; ++r)
      for (int o = 0; o < lines.outer; ++o) {
        const float* x = in.row<const float>(r) + o * lines.n;
        float* g = dx.row<float>(r) + o * lines.n;
        const float d = slope.row<const float>(r)[o];
        if (soft) {
          const float* l = label.row<const float>(r) + o * lines.n;
          for (int j = 0; j < lines.n; ++j) g[j] = -d * l[j] / x[j];
          continue;
        }
        std::fill(g, g + lines.n, 0.0f);
        const std::int64_t l = labels.at(r, o, lines.n);
        if (l >= 0) g[l] = -d / x[l];
      }
  }
};

template <>
struct call_kernel<bpr_loss> {
  template <class = void>
  static void run(const call_context& c) {
    const operand in = c.input(0), out = c.output(0);
    require_float(c, in);
    const label_reader labels(c, c.input(1), -100);
    const row_lines lines(in);
    for (int r = 0; r < lines.rows; ++r)
      for (int o = 0; o < lines.outer; ++o) {
        const float* x = in.row<const float>(r) + o * lines.n;
        const std::int64_t l = labels.at(r, o, lines.n);
        float cost = 0;
        for (int j = 0; l >= 0 && j < lines.n; ++j)
          if (j != l) {
            const float d = x[j] - x[l];
            cost += std::max(d, 0.0f) + std::log1p(std::exp(-std::abs(d)));
          }
        out.row<float>(r)[o] = lines.n > 1 ? cost / static_cast<float>(lines.n - 1) : 0.0f;
      }
  }
};

template <>
struct call_kernel<gradient_of<bpr_loss>> {
  template <class = void>
  static void run(const call_context& c) {
    const operand in = c.input(0), slope = c.input(2), dx = c.output(0);
    if (!dx) return;
    const label_reader labels(c, c.input(1), -100);
    const row_lines lines(in);
    for (int r = 0; r < lines.rows; ++r)
      for (int o = 0; o < lines.outer; ++o) {
        const float* x = in.row<const float>(r) + o * lines.n;
        float* g = dx.row<float>(r) + o * lines.n;
        std::fill(g, g + lines.n, 0.0f);
        const std::int64_t l = labels.at(r, o, lines.n);
        if (l < 0 || lines.n < 2) continue;
        const float d = slope.row<const float>(r)[o] / static_cast<float>(lines.n - 1);
        float total = 0;
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
  template <class = void>
  static void run(const call_context& c) {
    const operand in = c.input(0), prior = c.input(1), out = c.output(0);
    require_float(c, in);
    const float epsilon = static_cast<float>(c.number(0));
    const row_lines lines(in);
    const float even = 1.0f / static_cast<float>(lines.n);
    // A prior of several dimensions, such as [1, K], has its numbers in one row too.
    const float* p = prior ? prior.row<const float>(0) : nullptr;
    for (int r = 0; r < lines.rows; ++r)
      for (int o = 0; o < lines.outer; ++o) {
        const float* x = in.row<const float>(r) + o * lines.n;
        float* y = out.row<float>(r) + o * lines.n;
        for (int j = 0; j < lines.n; ++j)
          y[j] = (1 - epsilon) * x[j] + epsilon * (p != nullptr ? p[j] : even);
      }
  }
};

template <>
struct call_kernel<gradient_of<label_smooth>> {
  template <class = void>
  static void run(const call_context& c) {
    const operand slope = c.input(0), dx = c.output(0);
    if (!dx) return;
    const float factor = 1 - static_cast<float>(c.number(0));
    for (int r = 0; r < dx.rows; ++r)
      for (int j = 0; j < dx.columns; ++j)
        dx.row<float>(r)[j] = factor * slope.row<const float>(r)[j];
  }
};

namespace detail {

/// The costs, then, when `normalize` is set, divided by how many labels are not ignored.
template <class Op>
void divided_by_labels(const call_context& c) {
  const operand label = c.input(1), out = c.output(0);
  if (!out) return;
  pointwise_output<Op, 0>::run(c);
  if (!c.flag(1)) return;
  const float ignored = static_cast<float>(c.number(0));
  std::int64_t n = 0;
  for (int r = 0; r < label.rows; ++r)
    for (int j = 0; j < label.columns; ++j) n += label.row<const float>(r)[j] != ignored ? 1 : 0;
  const float factor = n == 0 ? 1.0f : 1.0f / static_cast<float>(n);
  for (int r = 0; r < out.rows; ++r)
    for (int j = 0; j < out.columns; ++j) out.row<float>(r)[j] *= factor;
}

}  // namespace detail

template <>
struct call_kernel<sigmoid_cross_entropy_with_logits> {
  template <class = void>
  static void run(const call_context& c) {
    require_float(c, c.input(0));
    require_float(c, c.input(1));
    detail::divided_by_labels<sigmoid_cross_entropy_with_logits>(c);
  }
};
template <>
struct call_kernel<gradient_of<sigmoid_cross_entropy_with_logits>> {
  template <class = void>
  static void run(const call_context& c) {
    require_float(c, c.input(0));
    require_float(c, c.input(1));
    detail::divided_by_labels<gradient_of<sigmoid_cross_entropy_with_logits>>(c);
  }
};

}  // namespace lamina::engine::cpu
