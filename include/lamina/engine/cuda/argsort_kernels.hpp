// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/argsort_kernels.hpp - the order of elements along a dimension: argsort,
// arg_max, arg_min.
#pragma once

#include <cstdint>
#include <limits>

#include <lamina/engine/call/arg_extreme_layout.hpp>
#include <lamina/engine/cuda/axis_kernels.hpp>
#include <lamina/engine/cuda/part_copy.hpp>
#include <lamina/operators/argsort.hpp>

namespace lamina::engine::cuda {

namespace detail {

/// A number whose order as a whole number is that of elements of any type: of floats NaN is the
/// largest, and both zeros are one. Float32 takes 32 bits of it.
LAMINA_INLINE LAMINA_FN std::uint64_t ordered_bits(const void* data, dtype type,
                                                   std::ptrdiff_t at) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  if (!is_floating(type)) return static_cast<std::uint64_t>(load_integer(data, type, at)) ^ sign;
  if (type == dtype::float32) {
    const float x = static_cast<const float*>(data)[at];
    if (x != x) return 0xffffffffu;
    const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, x + 0.0f);
    return (bits >> 31) != 0 ? static_cast<std::uint32_t>(~bits) : bits | 0x80000000u;
  }
  const double x = load_number(data, type, at);
  if (x != x) return ~std::uint64_t{0};
  const std::uint64_t bits = __builtin_bit_cast(std::uint64_t, x + 0.0);
  return (bits & sign) != 0 ? ~bits : bits | sign;
}

struct argsort_arguments {
  operand_lines<3> of;  // X, Out, Indices
  const void* x;
  void *out, *indices;
  dtype type;
  std::uint64_t* keys;
  int *places, *lines;
  bool descending;
  int bytes, count;
};

/// Element i of all lines: its key, its number, and, of those that are in order already, its line.
struct argsort_keys_body {
  using arguments = argsort_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const std::uint64_t key = ordered_bits(a.x, a.type, a.of.at(i).of[0]);
    const std::uint64_t most = a.type == dtype::float32 ? 0xffffffffu : ~std::uint64_t{0};
    a.keys[i] = a.descending ? most - key : key;
    a.places[i] = i;
  }
};
struct argsort_lines_body {
  using arguments = argsort_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    a.lines[i] = a.of.n.quotient(a.places[i]);
  }
};
struct argsort_write_body {
  using arguments = argsort_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const auto to = a.of.at(i), from = a.of.at(a.places[i]);
    if (a.out != nullptr) copy_element(a.x, from.of[0], a.out, to.of[1], a.bytes);
    if (a.indices != nullptr)
      static_cast<std::int64_t*>(a.indices)[to.of[2]] = a.of.place(a.places[i]);
  }
};

/// dX at the place that an index names = the slope of that index.
struct argsort_slope_body {
  struct arguments {
    operand_lines<3> of;  // dX, the slope, Indices
    float* to;
    const float* slope;
    const std::int64_t* indices;
    int count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const auto at = a.of.at(i);
    const std::ptrdiff_t first = at.of[0] - a.of.place(i) * a.of.step[0];
    a.to[first + a.indices[at.of[2]] * a.of.step[0]] = a.slope[at.of[1]];
  }
};

/// Where the largest, or smallest, element of a line stands; what is not a number is so only if it
/// comes first, as on the CPU.
template <bool Largest, class T>
struct arg_extreme_lines {
  struct arguments {
    const void* from;
    void* to;
    dtype type, to_type;
    element_loops<2> firsts;  // of X, Out
    std::ptrdiff_t step;
    int n;
    int lines, width, count;
  };
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    const auto first = a.firsts.at(i);
    constexpr T none = Largest ? lowest : highest;
    T most = none;
    int best = a.n;
    LAMINA_CUDA_KEEP_LOOP
    for (int k = team.rank(); k < a.n; k += team.size()) {
      const T x = load(a, first.of[0] + k * a.step);
      const bool better = best == a.n || (Largest ? most < x : x < most);
      if (x == x && better) best = k, most = x;
    }
    const T of_all = Largest ? largest_of(team, most) : smallest_of(team, most);
    const int found = smallest_of(team, best < a.n && most == of_all ? best : a.n);
    if (team.rank() != 0) return;
    const T x = load(a, first.of[0]);
    store_integer(a.to, a.to_type, first.of[1], x == x && found < a.n ? found : 0);
  }

 private:
  static constexpr T lowest =
      __is_same(T, double) ? static_cast<T>(-__builtin_huge_val()) : std::numeric_limits<T>::min();
  static constexpr T highest =
      __is_same(T, double) ? static_cast<T>(__builtin_huge_val()) : std::numeric_limits<T>::max();
  static LAMINA_INLINE LAMINA_FN T load(const arguments& a, std::ptrdiff_t at) {
    if constexpr (__is_same(T, double))
      return load_number(a.from, a.type, at);
    else
      return load_integer(a.from, a.type, at);
  }
};

template <bool Largest>
struct arg_extreme_kernel {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    const operand in = c.input(0), out = c.output(0);
    if (!out) return;
    if (is_floating(in.type))
      run<double>(b, c, in, out);
    else
      run<std::int64_t>(b, c, in, out);
  }

 private:
  template <class T, class Backend>
  static void run(Backend& b, const call_site& c, const operand& in, const operand& out) {
    const arg_extreme_layout l(c, in, out);
    typename arg_extreme_lines<Largest, T>::arguments a{};
    a.n = static_cast<int>(l.n);
    a.from = in.data;
    a.to = out.data;
    a.type = in.type;
    a.to_type = out.type;
    a.step = l.step;
    a.firsts = {c, l.lines};
    run_lines<arg_extreme_lines<Largest, T>>(b, a, a.firsts.count, a.n, a.step != 1);
  }
};

}  // namespace detail

/// The elements of all lines are sorted together, by their values and then by their lines: both
/// sorts are stable, so that equal elements keep their order.
template <>
struct call_kernel<argsort> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    const operand in = c.input(0), out = c.output(0), indices = c.output(1);
    if (!out && !indices) return;
    detail::argsort_arguments a{};
    a.of = {c, c.integer(0), {in, out ? out : indices, indices ? indices : out}};
    a.count = a.of.count;
    if (a.count == 0) return;
    a.x = in.data;
    a.out = out.data;
    a.indices = indices.data;
    a.type = in.type;
    a.bytes = size_of(in.type);
    a.descending = c.flag(1);
    const memory m(c.run.scratch, a.count);
    a.keys = m.keys;
    a.places = m.places;
    b.template elements<detail::argsort_keys_body>(a);
    b.template sort_pairs<std::uint64_t>(a.count, in.type == dtype::float32 ? 32 : 64, m.keys,
                                         m.sorted_keys, m.places, m.sorted_places, m.rest);
    a.places = m.sorted_places;
    if (const int lines = a.count / at_least_one(a.of.n.divisor()); lines > 1) {
      int bits = 1;
      while (bits < 31 && 1 << bits < lines) ++bits;
      a.lines = reinterpret_cast<int*>(m.keys);
      b.template elements<detail::argsort_lines_body>(a);
      b.template sort_pairs<int>(a.count, bits, a.lines, reinterpret_cast<int*>(m.sorted_keys),
                                 m.sorted_places, m.places, m.rest);
      a.places = m.places;
    }
    b.template elements<detail::argsort_write_body>(a);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_site& c) {
    const operand in = c.input(0);
    const int n = in.rows * in.columns;
    std::size_t by_value = 0, by_line = 0;
    Backend::template sort_scratch<std::uint64_t>(n, &by_value);
    Backend::template sort_scratch<int>(n, &by_line);
    const std::size_t more = by_value > by_line ? by_value : by_line;
    return 6 * static_cast<std::ptrdiff_t>(padded(n)) +
           static_cast<std::ptrdiff_t>(more / sizeof(float)) + 1;
  }

 private:
  /// Keys and places as they are and in order, and what the backend needs.
  struct memory {
    std::uint64_t *keys, *sorted_keys;
    int *places, *sorted_places;
    void* rest;

    memory(float* at, int count) {
      const std::ptrdiff_t n = padded(count);
      keys = reinterpret_cast<std::uint64_t*>(at);
      sorted_keys = keys + n;
      places = reinterpret_cast<int*>(at) + 4 * n;
      sorted_places = places + n;
      rest = sorted_places + n;
    }
  };
};

template <>
struct call_kernel<gradient_of<argsort>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    const operand indices = c.input(1), slope = c.input(2), dx = c.output(0);
    if (!dx) return;
    require_float(c, dx);
    const detail::operand_lines<3> of(c, c.integer(0), {dx, slope, indices});
    b.template elements<detail::argsort_slope_body>({of, dx.row<float>(0),
                                                     slope.row<const float>(0),
                                                     indices.row<const std::int64_t>(0), of.count});
  }
};

template <>
struct call_kernel<arg_max> : detail::arg_extreme_kernel<true> {};
template <>
struct call_kernel<arg_min> : detail::arg_extreme_kernel<false> {};

}  // namespace lamina::engine::cuda
