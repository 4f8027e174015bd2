// SPDX-License-Identifier: Apache-2.0
// lamina/operators/order/argsort/cuda.cuh - argsort, arg_max and arg_min, which compare elements
// along a dimension.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <limits>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/engine/cuda/body/axis_lines.cuh>
#include <lamina/engine/cuda/body/part_copy.cuh>
#include <lamina/engine/cuda/device/algorithms.hpp>
#include <lamina/operators/order/argsort/common.hpp>
#include <lamina/operators/order/argsort/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Writes a key for the sort for each element of some lines. NaN counts as the largest number. For
/// a descending order the keys are negated, so that a stable sort in ascending order keeps the
/// order of equal elements.
template <class Key>
struct line_keys_body {
  struct arguments {
    operand_lines<3> of;  // X, Out, Indices
    const void* x;
    dtype type;
    bool descending;
    Key* keys;
    int count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const std::ptrdiff_t at = a.of.at(i).of[0];
    if constexpr (__is_same(Key, std::int64_t)) {
      const std::int64_t x = load_integer(a.x, a.type, at);
      a.keys[i] = a.descending ? ~x : x;
    } else {
      const Key x = static_cast<Key>(load_number(a.x, a.type, at));
      if (x == x)
        a.keys[i] = a.descending ? -x : x;
      else
        store_nan(a.keys + i, a.descending);
    }
  }

 private:
  /// Stores a NaN with a given sign, because CUB orders NaN by its sign. The NaN is stored as an
  /// integer, because floating point arithmetic on the device, including negation, may change the
  /// sign of NaN.
  static LAMINA_INLINE LAMINA_FN void store_nan(Key* to, bool negative) {
    if constexpr (sizeof(Key) == 4) {
      const std::uint32_t bits = negative ? 0xffc00000u : 0x7fc00000u;
      __builtin_memcpy(to, &bits, sizeof bits);
    } else {
      const std::uint64_t bits = negative ? 0xfff8000000000000u : 0x7ff8000000000000u;
      __builtin_memcpy(to, &bits, sizeof bits);
    }
  }
};
/// Writes the sorted elements of each line to Out, and their previous positions to Indices.
struct line_order_body {
  struct arguments {
    operand_lines<3> of;  // X, Out, Indices
    const void* x;
    void *out, *indices;
    const int* order;
    int bytes, count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const int from = a.order[i];
    if (a.out != nullptr) copy_element(a.x, a.of.at(from).of[0], a.out, a.of.at(i).of[1], a.bytes);
    if (a.indices != nullptr)
      static_cast<std::int64_t*>(a.indices)[a.of.at(i).of[2]] = a.of.position(from);
  }
};

/// Sorts each line of X along dimension `axis`. Out receives the sorted elements, Indices their
/// previous positions.
template <class Key, class Backend>
void order_lines(Backend& b, const call_context& c, int axis, bool descending) {
  const operand x = c.input(0), out = c.output(0), indices = c.output(1);
  const operand_lines<3> of(c, axis, {x, out ? out : indices, indices ? indices : out});
  if (of.count == 0) return;
  const int n = of.n.divisor(), lines = of.count / n;
  scratch_arena arena(c.run.scratch);
  const algorithm::sort_lines<Key> sort{arena.take_sort<Key>(of.count), lines, n};
  b.template elements<line_keys_body<Key>>({of, x.data, x.type, descending, sort.keys, of.count});
  b.run_algorithm(algorithm::sequence<int>{sort.numbers, of.count});
  b.run_algorithm(sort, arena.rest());
  b.template elements<line_order_body>(
      {of, x.data, out.data, indices.data, sort.sorted_numbers, size_of(x.type), of.count});
}
template <class Key, class Backend>
std::ptrdiff_t line_order_scratch(int lines, int n) {
  scratch_arena arena(nullptr);
  const algorithm::sort_lines<Key> sort{arena.take_sort<Key>(lines * n), lines, n};
  return arena.used() + algorithm_floats<Backend>(sort);
}

/// Copies the gradient of Out to dX: the gradient of an element of Out goes to the element's
/// previous position, which Indices holds.
struct argsort_grad_body {
  struct arguments {
    operand_lines<3> of;  // the gradient of Out, dX, Indices
    float* to;
    const float* grad;
    const std::int64_t* indices;
    int count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const auto at = a.of.at(i);
    const std::ptrdiff_t first = at.of[1] - a.of.position(i) * a.of.step[1];
    a.to[first + a.indices[at.of[2]] * a.of.step[1]] = a.grad[at.of[0]];
  }
};
template <class Backend>
void scatter_grads(Backend& b, const call_context& c, int axis, const operand& grad,
                   const operand& dx, const operand& indices) {
  require_float(c, dx);
  const operand_lines<3> of(c, axis, {grad, dx, indices});
  b.template elements<argsort_grad_body>({of, dx.row<float>(0), grad.row<const float>(0),
                                          indices.row<const std::int64_t>(0), of.count});
}

/// Writes the index of the largest or the smallest element of each line. If a line has a NaN,
/// writes the index of the NaN. Among equal elements, the first one is used.
template <bool Largest, class T>
struct arg_extreme_lines {
  struct arguments {
    const void* from;
    void* to;
    dtype type, to_type;
    element_loops<2> firsts;  // loops over X, Out
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
      if (best == a.n || (Largest ? math::is_above(x, most) : math::is_below(x, most)))
        best = k, most = x;
    }
    const T of_all = Largest ? largest_of(team, most) : smallest_of(team, most);
    const int found = smallest_of(team, best < a.n && math::is_same(most, of_all) ? best : a.n);
    if (team.rank() == 0) store_integer(a.to, a.to_type, first.of[1], found < a.n ? found : 0);
  }

 private:
  static constexpr T lowest = __is_same(T, double) ? static_cast<T>(-__builtin_huge_val())
                                                   : (std::numeric_limits<T>::min)();
  static constexpr T highest =
      __is_same(T, double) ? static_cast<T>(__builtin_huge_val()) : (std::numeric_limits<T>::max)();
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
  static void launch(Backend& b, const call_context& c) {
    const operand in = c.input(0), out = c.output(0);
    if (!out) return;
    if (is_floating(in.type))
      run<double>(b, c, in, out);
    else
      run<std::int64_t>(b, c, in, out);
  }

 private:
  template <class T, class Backend>
  static void run(Backend& b, const call_context& c, const operand& in, const operand& out) {
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

template <>
struct call_kernel<operators::argsort> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    if (!c.output(0) && !c.output(1)) return;
    by_key(c, [&]<class Key>(Key) { detail::order_lines<Key>(b, c, c.integer(0), c.flag(1)); });
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    const int n = line_length(c), lines = c.input(0).rows * c.input(0).columns / at_least_one(n);
    return by_key(
        c, [&]<class Key>(Key) { return detail::line_order_scratch<Key, Backend>(lines, n); });
  }

 private:
  static int line_length(const call_context& c) {
    const array_layout x = layout_of(c.input(0));
    return static_cast<int>(x.extent[dimension_of(c, c.integer(0), x.rank)]);
  }
  template <class F>
  static auto by_key(const call_context& c, const F& f) {
    const dtype type = c.input(0).type;
    return !is_floating(type) ? f(std::int64_t{0}) : type == dtype::float32 ? f(0.0f) : f(0.0);
  }
};

template <>
struct call_kernel<gradient_of<operators::argsort>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    if (const operand dx = c.output(0))
      detail::scatter_grads(b, c, c.integer(0), c.input(2), dx, c.input(1));
  }
};

template <>
struct call_kernel<operators::arg_max> : detail::arg_extreme_kernel<true> {};
template <>
struct call_kernel<operators::arg_min> : detail::arg_extreme_kernel<false> {};

}}}  // namespace lamina::engine::cuda
