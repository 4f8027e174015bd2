// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/mean/cpu.hpp - the kernel of mean, the mean of all elements.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>

#include <lamina/core/numbers/whole_sum.hpp>
#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/engine/cpu/vector/long_sums.hpp>
#include <lamina/operators/fill/cpu.hpp>
#include <lamina/operators/reduce/mean/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// Computes the mean of all elements. The sum over a large array is divided into parts, which
/// threads compute. The number of parts does not depend on the number of threads, so that the
/// result does not depend on it either.
template <>
struct call_kernel<operators::mean> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);

 private:
  /// Returns the mean of integers, rounded towards 0.
  static std::int64_t whole_mean(const operand& x) {
    whole_sum all;
    for (int r = 0; r < x.rows; ++r)
      for (int j = 0; j < x.columns; ++j) all.add(integer_in(x, r, j));
    return all.mean(static_cast<std::int64_t>(x.rows) * x.columns);
  }
  /// Returns the sum of the elements [first, end), counted row by row.
  static double sum(const operand& x, std::int64_t first, std::int64_t end) {
    double total = 0;
    while (first < end) {
      const std::int64_t r = first / x.columns, j = first % x.columns;
      const std::int64_t n = std::min<std::int64_t>(x.columns - j, end - first);
      if (x.type == dtype::float32)
        total += detail::double_sum(x.row<const float>(static_cast<int>(r)) + j, n);
      else
        total += row_sum(x.row<const double>(static_cast<int>(r)) + j, n);
      first += n;
    }
    return total;
  }
};

/// Computes the gradient of mean for element types other than the program's real type. For the real
/// type, a fused group computes it.
template <>
struct call_kernel<gradient_of<operators::mean>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::mean>::run(const call_context& c) {
  const operand x = c.input(0), out = c.output(0);
  const std::int64_t count = static_cast<std::int64_t>(x.rows) * x.columns;
  const int parts = count < 1 << 14 ? 1 : shared_sums::parts;
  double own[shared_sums::parts];
  if (!is_floating(x.type) && c.run().sums.first < c.run().sums.end) return;  // floats only
  if (!is_floating(x.type)) return store_as(out.data, out.type, 0, whole_mean(x));
  const shared_sums s = c.run().sums.of != nullptr ? c.run().sums : shared_sums{own, 0, parts};
  for (int p = s.first; p < s.end && p < parts; ++p)
    s.of[p] = sum(x, count * p / parts, count * (p + 1) / parts);
  if (s.of != own && s.first < s.end) return;
  double all = 0;
  for (int p = 0; p < parts; ++p) all += s.of[p];
  store_as(out.data, out.type, 0, count > 0 ? all / static_cast<double>(count) : 0.0);
}
LAMINA_INSTANCE(void call_kernel<operators::mean>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::mean>::run<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::mean>>::run(const call_context& c) {
  const operand grad = c.input(0), dx = c.output(0);
  if (!dx) return;
  const double count = static_cast<double>(dx.rows) * dx.columns;
  detail::fill(dx, load_as<double>(grad.data, grad.type, 0) / count);
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::mean>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::mean>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
