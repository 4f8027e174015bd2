// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/layer_norm/cuda_axis.cuh - operators along one dimension: norm, cumsum.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <type_traits>

#include <lamina/core/math.hpp>
#include <lamina/engine/cuda/body/element_loops.cuh>
#include <lamina/engine/cuda/device/algorithms.hpp>
#include <lamina/operators/norm/layer_norm/definition.hpp>
#include <lamina/operators/reduce/dimensions/definition.hpp>

namespace lamina::inline LAMINA_ABI::engine::cuda {

namespace detail {

/// Lines of `n` elements along one dimension of K arrays: the first element of each, and its
/// stride.
template <int K>
struct axis_lines {
  element_loops<K> firsts;
  std::ptrdiff_t step[K];
  int n;
  bool side_by_side;  // neighbouring lines are contiguous in array 0, their elements are not

  axis_lines() = default;
  axis_lines(const call_context& c, int axis, const operand (&arrays)[K]) {
    array_layout layout[K];
    for (int k = 0; k < K; ++k) layout[k] = layout_of(arrays[k]);
    const int rank = layout[0].rank, along = dimension_of(c, axis, rank);
    loop_nest<K> lines;
    for (int d = 0; d < rank; ++d) {
      std::ptrdiff_t s[K];
      for (int k = 0; k < K; ++k) s[k] = layout[k].step[d];
      if (d != along) lines.add_all(layout[0].extent[d], s);
    }
    for (int k = 0; k < K; ++k) step[k] = layout[k].step[along];
    n = static_cast<int>(layout[0].extent[along]);
    side_by_side = step[0] != 1;
    firsts = element_loops<K>(c, lines);
  }
};

/// Gives numbers to all elements of such lines, line by line.
template <int K>
struct operand_lines {
  element_loops<K> firsts;
  std::ptrdiff_t step[K];
  divider n;
  int count;

  operand_lines() = default;
  operand_lines(const call_context& c, int axis, const operand (&arrays)[K]) {
    const axis_lines<K> lines(c, axis, arrays);
    firsts = lines.firsts;
    for (int k = 0; k < K; ++k) step[k] = lines.step[k];
    n = divider(at_least_one(lines.n));
    count = lines.n * firsts.count;
  }
  /// The position of element i in its line, and its offset in each array.
  LAMINA_INLINE LAMINA_FN int position(int i) const { return i - n.quotient(i) * n.divisor(); }
  LAMINA_INLINE LAMINA_FN typename element_loops<K>::positions at(int i) const {
    const int line = n.quotient(i), k = i - line * n.divisor();
    auto p = firsts.at(line);
    LAMINA_CUDA_UNROLL
    for (int j = 0; j < K; ++j) p.of[j] += k * step[j];
    return p;
  }
};

struct norm_arguments {
  const float* x;
  float *to, *size;
  axis_lines<3> of;  // of X, the result, Norm
  float epsilon;
  int lines, width, count;
};

struct axis_norm_lines {
  using arguments = norm_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    const auto at = a.of.firsts.at(i);
    const float* const x = a.x + at.of[0];
    float* const y = a.to + at.of[1];
    double square = 0;  // which holds that of any float
    // If unrolled, the loops need more registers than a thread has.
    LAMINA_CUDA_KEEP_LOOP
    for (int k = team.rank(); k < a.of.n; k += team.size()) {
      const double v = static_cast<double>(x[k * a.of.step[0]]);
      square += v * v;
    }
    const float size =
        static_cast<float>(math::sqrt(sum_of(team, square) + static_cast<double>(a.epsilon)));
    const float divisor = size == 0 ? 1.0f : size;
    LAMINA_CUDA_KEEP_LOOP
    for (int k = team.rank(); k < a.of.n; k += team.size())
      y[k * a.of.step[1]] = x[k * a.of.step[0]] / divisor;
    if (team.rank() == 0) a.size[at.of[2]] = size;
  }
};

struct norm_slope_arguments {
  const float *x, *d, *size;
  float* to;
  axis_lines<4> of;  // of X, dX, Norm, the slope
  int lines, width, count;
};
/// dx = (d - x (x . d) / size^2) / size; 0 of a vector of length 0, which has no direction.
struct axis_norm_slope_lines {
  using arguments = norm_slope_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    const auto at = a.of.firsts.at(i);
    const float *const x = a.x + at.of[0], *const d = a.d + at.of[3];
    float* const to = a.to + at.of[1];
    const float size = a.size[at.of[2]];
    float product = 0;
    for (int k = team.rank(); k < a.of.n; k += team.size())
      product += x[k * a.of.step[0]] * d[k * a.of.step[3]];
    const float inverse = size == 0 ? 0.0f : 1 / size;
    const float part = sum_of(team, product) * inverse * inverse;
    for (int k = team.rank(); k < a.of.n; k += team.size())
      to[k * a.of.step[1]] = (d[k * a.of.step[3]] - x[k * a.of.step[0]] * part) * inverse;
  }
};

/// Elements along lines to be added up, from either end: floats in double, so that many of them
/// keep their digits, and whole numbers modulo 2^64.
template <class T>
struct cumsum_elements {
  using value = std::conditional_t<__is_same(T, float), double, std::uint64_t>;
  struct arguments {
    const void* from;
    void* to;
    dtype type;
    axis_lines<2> of;  // of X, Out
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
struct call_kernel<norm> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), size = c.output(0), y = c.output(1);
    require_float(c, x);
    detail::norm_arguments a{};
    a.x = x.row<const float>(0);
    a.to = y.row<float>(0);
    a.size = size.row<float>(0);
    a.of = {c, c.integer(0), {x, y, size}};
    a.epsilon = static_cast<float>(c.number(1));
    run_lines<detail::axis_norm_lines>(b, a, a.of.firsts.count, a.of.n, a.of.side_by_side);
  }
};
template <>
struct call_kernel<gradient_of<norm>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), size = c.input(1), d = c.input(2), dx = c.output(0);
    if (!dx) return;
    detail::norm_slope_arguments a{};
    a.x = x.row<const float>(0);
    a.d = d.row<const float>(0);
    a.size = size.row<const float>(0);
    a.to = dx.row<float>(0);
    a.of = {c, c.integer(0), {x, dx, size, d}};
    run_lines<detail::axis_norm_slope_lines>(b, a, a.of.firsts.count, a.of.n, a.of.side_by_side);
  }
};

template <>
struct call_kernel<cumsum> {
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

}  // namespace lamina::inline LAMINA_ABI::engine::cuda
