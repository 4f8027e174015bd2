// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/softmax_kernels.hpp - softmax, and its fusion with the cross entropy.
#pragma once

#include <cmath>
#include <string>

#include <lamina/core/error.hpp>
#include <lamina/engine/cpu/call_context.hpp>
#include <lamina/engine/cpu/simd.hpp>
#include <lamina/operators/cross_entropy.hpp>

namespace lamina::engine::cpu {

namespace detail {

/// y = softmax of the n numbers at x; y has room for padded(n) floats, whose padding becomes 0.
/// Returns log(sum e^(x - max)) + max, the log-partition function.
inline float softmax_row(const float* x, float* y, int n) {
  float largest = x[0];
  for (int j = 1; j < n; ++j) largest = x[j] > largest ? x[j] : largest;
  int j = 0;
  vector sums(0.f);
  const vector shift(largest);
  for (; j + lanes <= n; j += lanes) {
    const vector e = xsimd::exp(vector::load_unaligned(x + j) - shift);
    e.store_unaligned(y + j);
    sums += e;
  }
  alignas(64) float part[lanes];
  sums.store_aligned(part);
  float sum = 0;
  for (float p : part) sum += p;
  for (; j < n; ++j) sum += y[j] = std::exp(x[j] - largest);
  const float factor = 1.0f / sum;
  for (j = 0; j < n; ++j) y[j] *= factor;
  return std::log(sum) + largest;
}

[[noreturn]] inline void throw_label(const char* op, std::int64_t label, int row, int classes) {
  throw error("lamina: " + std::string(op) + ": label in row " + std::to_string(row) +
              ": expected 0 to " + std::to_string(classes - 1) + ", found " +
              std::to_string(label));
}

}  // namespace detail

template <>
struct call_kernel<softmax_with_cross_entropy> {
  static void run(const call_context& c) {
    const operand logits = c.input(0), label = c.input(1), softmax = c.output(0),
                  loss = c.output(1);
    const bool soft = c.flag(0);
    const int ignored = c.integer(1);
    const int n = logits.columns;
    for (int r = 0; r < logits.rows; ++r) {
      const float* x = logits.row<const float>(r);
      const float partition = detail::softmax_row(x, softmax.row<float>(r), n);
      float cost = 0;
      if (soft) {
        const float* y = label.row<const float>(r);
        for (int j = 0; j < n; ++j) cost += y[j] * (partition - x[j]);
      } else {
        const std::int64_t l = *label.row<const std::int64_t>(r);
        if (l != ignored) {
          if (l < 0 || l >= n) detail::throw_label("softmax_with_cross_entropy", l, r, n);
          cost = partition - x[l];
        }
      }
      *loss.row<float>(r) = cost;
    }
  }
};

template <>
struct call_kernel<gradient_of<softmax_with_cross_entropy>> {
  static void run(const call_context& c) {
    const operand label = c.input(0), softmax = c.input(1), dloss = c.input(2), dx = c.output(0);
    if (!dx) return;
    const bool soft = c.flag(0);
    const int ignored = c.integer(1);
    const int n = dx.columns;
    for (int r = 0; r < dx.rows; ++r) {
      const float g = *dloss.row<const float>(r);
      const float* p = softmax.row<const float>(r);
      float* d = dx.row<float>(r);
      if (soft) {
        const float* y = label.row<const float>(r);
        float total = 0;
        for (int j = 0; j < n; ++j) total += y[j];
        for (int j = 0; j < n; ++j) d[j] = (p[j] * total - y[j]) * g;
        continue;
      }
      const std::int64_t l = *label.row<const std::int64_t>(r);
      const float factor = l == ignored ? 0.0f : g;
      for (int j = 0; j < n; ++j) d[j] = p[j] * factor;
      if (l != ignored) d[l] -= factor;
    }
  }
};

}  // namespace lamina::engine::cpu
