// SPDX-License-Identifier: Apache-2.0
// lamina/operators/reduce/cumsum/cuda.cuh - cumsum: cumulative sums along a dimension.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <type_traits>

#include <lamina/engine/cuda/body/axis_lines.cuh>
#include <lamina/engine/cuda/body/element_loops.cuh>
#include <lamina/engine/cuda/device/algorithms.hpp>
#include <lamina/operators/reduce/cumsum/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Gives the terms of the cumulative sums along lines, in either direction, and stores the sums.
/// Floats are added in double, so that long sums keep their digits. Integers are added modulo 2^64.
template <class T>
struct cumsum_elements {
  using value = std::conditional_t<__is_same(T, float), double, std::uint64_t>;
  struct arguments {
    const void* from;
    void* to;
    dtype type;
    axis_lines<2> of;  // strides of X, Out
    bool reverse;
  };
  static LAMINA_INLINE LAMINA_FN value load(const arguments& a, int line, int k) {
    const std::ptrdiff_t at = position(a, 0, line, k);
    if constexpr (__is_same(T, float))
      return static_cast<const float*>(a.from)[at];
    else
      return static_cast<value>(load_integer(a.from, a.type, at));
  }
  static LAMINA_INLINE LAMINA_FN void store(const arguments& a, int line, int k, value sum) {
    const std::ptrdiff_t at = position(a, 1, line, k);
    if constexpr (__is_same(T, float))
      static_cast<float*>(a.to)[at] = static_cast<float>(sum);
    else
      store_integer(a.to, a.type, at, static_cast<std::int64_t>(sum));
  }

 private:
  static LAMINA_INLINE LAMINA_FN std::ptrdiff_t position(const arguments& a, int array, int line,
                                                         int k) {
    return a.of.firsts.at(line).of[array] + (a.reverse ? a.of.n - 1 - k : k) * a.of.step[array];
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::cumsum> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0);
    if (!c.output(0)) return;
    if (x.type == dtype::float32) return run<float>(b, c);
    if (is_floating(x.type))
      fail(c, {"expected elements of float32 or whole numbers, found ", name_of(x.type)});
    run<std::int64_t>(b, c);
  }

 private:
  template <class T, class Backend>
  static void run(Backend& b, const call_context& c) {
    const operand x = c.input(0), y = c.output(0);
    const detail::axis_lines<2> of(c, c.integer(0), {x, y});
    b.run_algorithm(algorithm::scan_lines<detail::cumsum_elements<T>>{
        {x.data, y.data, x.type, of, c.flag(2)}, of.firsts.count, of.n, c.flag(1)});
  }
};

}}}  // namespace lamina::engine::cuda
