// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/mean_kernels.hpp - the mean of all elements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <lamina/engine/cpu/fill_kernels.hpp>
#include <lamina/engine/cpu/row_math.hpp>
#include <lamina/operators/mean.hpp>

namespace lamina::engine::cpu {

namespace detail {

// So far ahead of a sum memory is asked for lines: the processor's own guess ends with a page.
inline constexpr int prefetched_floats = 1024;

/// The sum of n floats in double: sixteen sums beside each other, for one after the other would
/// take four times as long as memory does.
LAMINA_NOINLINE inline double double_sum(const float* x, std::ptrdiff_t n) {
  using four_floats [[gnu::vector_size(16)]] = float;
  using four_doubles [[gnu::vector_size(32)]] = double;
  four_doubles sum[4] = {};
  std::ptrdiff_t j = 0;
  for (; j + 16 <= n; j += 16) {
    __builtin_prefetch(x + j + prefetched_floats);
    LAMINA_UNROLL for (int i = 0; i < 4; ++i) {
      four_floats v;
      std::memcpy(&v, x + j + 4 * i, sizeof v);
      sum[i] += __builtin_convertvector(v, four_doubles);
    }
  }
  const four_doubles all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  double total = (all[0] + all[1]) + (all[2] + all[3]);
  for (; j < n; ++j) total += static_cast<double>(x[j]);
  return total;
}

}  // namespace detail

/// Large arrays are summed in as many parts whatever the number of threads, so that it does not
/// change the result.
template <>
struct call_kernel<mean> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand x = c.input(0), out = c.output(0);
    const std::int64_t count = static_cast<std::int64_t>(x.rows) * x.columns;
    const int parts = count < 1 << 14 ? 1 : shared_sums::parts;
    double own[shared_sums::parts];
    const shared_sums s = c.run().sums.of != nullptr ? c.run().sums : shared_sums{own, 0, parts};
    for (int p = s.first; p < s.end && p < parts; ++p)
      s.of[p] = sum(x, count * p / parts, count * (p + 1) / parts);
    if (s.of != own && s.first < s.end) return;
    double all = 0;
    for (int p = 0; p < parts; ++p) all += s.of[p];
    store_as(out.data, out.type, 0, count > 0 ? all / static_cast<double>(count) : 0.0);
  }

 private:
  /// Of the elements [first, end), row by row.
  static double sum(const operand& x, std::int64_t first, std::int64_t end) {
    double total = 0;
    while (first < end) {
      const std::int64_t r = first / x.columns, j = first % x.columns;
      const std::int64_t n = std::min<std::int64_t>(x.columns - j, end - first);
      if (x.type == dtype::float32)
        total += detail::double_sum(x.row<const float>(static_cast<int>(r)) + j, n);
      else if (x.type == dtype::float64)
        total += row_sum(x.row<const double>(static_cast<int>(r)) + j, n);
      else
        for (std::int64_t i = j; i < j + n; ++i)
          total += load_as<double>(x.data, x.type, r * x.stride + i);
      first += n;
    }
    return total;
  }
};

/// What the program computes in has a fused form; this serves the other types.
template <>
struct call_kernel<gradient_of<mean>> {
  static constexpr bool in_double = true;
  template <class Real = float>
  static void run(const call_context& c) {
    const operand slope = c.input(0), dx = c.output(0);
    if (!dx) return;
    const double count = static_cast<double>(dx.rows) * dx.columns;
    detail::fill(dx, load_as<double>(slope.data, slope.type, 0) / count);
  }
};

}  // namespace lamina::engine::cpu
