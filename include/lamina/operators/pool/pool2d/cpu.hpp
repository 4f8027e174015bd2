// SPDX-License-Identifier: Apache-2.0
// lamina/operators/pool/pool2d/cpu.hpp - the kernels of pool2d, which pools the windows of images.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <type_traits>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/engine/common/real_numbers.hpp>
#include <lamina/engine/cpu/vector/lane_order.hpp>
#include <lamina/engine/cpu/vector/row_math.hpp>
#include <lamina/operators/pool/pool2d/common.hpp>
#include <lamina/operators/pool/pool2d/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

/// The offsets at which the elements of neighbouring windows of 2 x 2 elements ("squares") are
/// loaded. The elements of as many squares as a SIMD vector has numbers fill four vectors: two in
/// the upper row of the image and two in the lower row. The offsets are relative to the first
/// vector of the upper row.
struct pool_positions {
  std::ptrdiff_t upper, lower, last;  // second of the upper row; first, second of the lower
};

/// Calls f(v, positions, at, to) for each vector of squares; the type of v is the type of the
/// vector. `at` is the offset of the squares in the image, `to` their offset in the result. If a
/// row of squares fills half a vector, two rows are computed together. The last vector of a longer
/// row may repeat squares of the vector before it. Returns the number of rows of squares that were
/// computed; the caller computes the others, for example all rows if a row is shorter than half a
/// vector.
template <class F>
LAMINA_INLINE int for_each_square_vector(const pool_windows& w, F f) {
  const int n = w.width.in, out = w.width.out;
  int y = 0;
  for (int together = n == 2 * out ? 2 : 1; together > 0; --together)
    with_row_vector(
        together * out, [&](auto like) __attribute__((always_inline)) {
          constexpr int size = lanes_of<decltype(like)>;
          const int width = together * out;
          if (together == 2 && width != size) return;
          const std::ptrdiff_t row = n, second = together == 2 ? 2 * row : size;
          for (; y + together <= w.height.out; y += together)
            for (int next = 0; next < width; next += size) {
              const int x = next + size <= width ? next : width - size;
              f(like, pool_positions{second, row, second + row}, 2 * (y * row + x),
                static_cast<std::ptrdiff_t>(y) * out + x);
            }
        });
  return y;
}

// Computes to[j] = f(to[j], from[j]) for the n elements of a row, with SIMD vectors.
template <class Real, class F>
LAMINA_INLINE void combine_rows(Real* to, const Real* from, int n, F f) {
  for_each_position<Real>(n, [&](std::ptrdiff_t j, auto like) {
    store(to + j, decltype(like)(f(load(to + j, like), load(from + j, like))));
  });
}

}  // namespace detail

template <>
struct call_kernel<operators::pool2d> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
  /// Returns the scratch memory for one image row, which holds the combination of the rows of a
  /// window.
  template <class Real = float>
  LAMINA_KERNEL static std::ptrdiff_t scratch(const call_context& c);

 private:
  template <class = void>
  static void squares(const pool_windows& w, const float* from, float* to) {
    const auto average = [](auto a, auto b) { return decltype(a)((a + b) * decltype(a)(0.5F)); };
    const auto most = [](auto a, auto b) { return math::maximum(a, b); };
    if (w.is_average)
      squares(w, from, to, average);
    else
      squares(w, from, to, most);
  }
  template <class F>
  static LAMINA_INLINE void squares(const pool_windows& w, const float* from, float* to, F f) {
    const int n = w.width.in, out = w.width.out;
    int y = detail::for_each_square_vector(
        w, [=](auto like, detail::pool_positions at, std::ptrdiff_t in, std::ptrdiff_t position)
               __attribute__((always_inline)) {
                 using V = decltype(like);
                 const float* const x = from + in;
                 const V left = f(V::load_unaligned(x), V::load_unaligned(x + at.lower));
                 const V right = f(V::load_unaligned(x + at.upper), V::load_unaligned(x + at.last));
                 f(even_lanes(left, right), odd_lanes(left, right)).store_unaligned(to + position);
               });
    for (from += 2 * y * n, to += y * out; y < w.height.out; ++y, from += 2 * n, to += out)
      for (int x = 0; x < out; ++x) {
        const float *const u = from + 2 * x, *const l = u + n;
        to[x] = f(f(u[0], l[0]), f(u[1], l[1]));
      }
  }
  template <class Real>
  static void maxima(const pool_windows& w, const Real* from, Real* to, Real* line) {
    const int n = w.width.in;
    for (int y = 0; y < w.height.out; ++y, to += w.width.out) {
      const int top = w.height.first(y), bottom = w.height.end(y);
      std::copy_n(from + static_cast<std::ptrdiff_t>(top) * n, n, line);
      for (int i = top + 1; i < bottom; ++i)
        detail::combine_rows(line, from + static_cast<std::ptrdiff_t>(i) * n, n,
                             [](auto a, auto b) { return math::maximum(a, b); });
      for (int x = 0; x < w.width.out; ++x) {
        const int end = w.width.end(x);
        Real most = line[w.width.first(x)];
        for (int j = w.width.first(x) + 1; j < end; ++j) most = math::maximum(most, line[j]);
        to[x] = most;
      }
    }
  }
  template <class Real>
  static void averages(const pool_windows& w, const Real* from, Real* to, Real* line) {
    const int n = w.width.in;
    for (int y = 0; y < w.height.out; ++y, to += w.width.out) {
      const int top = w.height.first(y), bottom = w.height.end(y);
      std::copy_n(from + static_cast<std::ptrdiff_t>(top) * n, n, line);
      for (int i = top + 1; i < bottom; ++i)
        detail::combine_rows(line, from + static_cast<std::ptrdiff_t>(i) * n, n,
                             [](auto a, auto b) { return a + b; });
      for (int x = 0; x < w.width.out; ++x) {
        const int first = w.width.first(x), end = w.width.end(x);
        Real sum = 0;
        for (int j = first; j < end; ++j) sum += line[j];
        to[x] = sum * w.weight<Real>(bottom - top, end - first);
      }
    }
  }
};

template <>
struct call_kernel<gradient_of<operators::pool2d>> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);

 private:
  /// Whether x, an element of a window, equals the largest element `most`. NaN counts as larger
  /// than all numbers.
  template <class T>
  static LAMINA_INLINE auto is_most(T x, T most) {
    if constexpr (math::is_plain<T>)
      return x == most || math::is_nan(x);
    else
      return (x == most) | math::is_nan(x);
  }
  template <class Real>
  static void spread(const pool_windows& w, const Real* grad, Real* to) {
    for (int y = 0; y < w.height.out; ++y)
      for (int x = 0; x < w.width.out; ++x, ++grad) {
        const int top = w.height.first(y), bottom = w.height.end(y);
        const int left = w.width.first(x), right = w.width.end(x);
        const Real part = *grad * w.weight<Real>(bottom - top, right - left);
        for (int i = top; i < bottom; ++i)
          for (int j = left; j < right; ++j)
            to[static_cast<std::ptrdiff_t>(i) * w.width.in + j] += part;
      }
  }
  template <class = void>
  static void give_to_first_of_squares(const pool_windows& w, const float* image, const float* most,
                                       const float* grad, float* to) {
    const int n = w.width.in, out = w.width.out;
    int y = detail::for_each_square_vector(
        w, [=](auto like, detail::pool_positions at, std::ptrdiff_t in, std::ptrdiff_t position)
               __attribute__((always_inline)) {
                 using V = decltype(like);
                 const float* const x = image + in;
                 float* const target = to + in;
                 const V m = V::load_unaligned(most + position), none(0.F);
                 const V d = V::load_unaligned(grad + position);
                 const V u0 = V::load_unaligned(x), u1 = V::load_unaligned(x + at.upper);
                 const V l0 = V::load_unaligned(x + at.lower);
                 const V l1 = V::load_unaligned(x + at.last);
                 // `rest` is the gradient that no earlier position of the window has taken. Each
                 // position takes all of `rest` or nothing.
                 const V a = math::select(is_most(even_lanes(u0, u1), m), d, none);
                 V rest = math::select(is_most(even_lanes(u0, u1), m), none, d);
                 const V b = math::select(is_most(odd_lanes(u0, u1), m), rest, none);
                 rest = math::select(is_most(odd_lanes(u0, u1), m), none, rest);
                 const V c = math::select(is_most(even_lanes(l0, l1), m), rest, none);
                 rest = math::select(is_most(even_lanes(l0, l1), m), none, rest);
                 first_in_turn(a, b).store_unaligned(target);
                 second_in_turn(a, b).store_unaligned(target + at.upper);
                 first_in_turn(c, rest).store_unaligned(target + at.lower);
                 second_in_turn(c, rest).store_unaligned(target + at.last);
               });
    const int positions[4] = {0, 1, n, n + 1};
    for (; y < w.height.out; ++y)
      for (int x = 0; x < out; ++x) {
        const std::ptrdiff_t at = 2 * (static_cast<std::ptrdiff_t>(y) * n + x);
        const std::ptrdiff_t position = static_cast<std::ptrdiff_t>(y) * out + x;
        const float *const u = image + at, *const l = u + n;
        const float m = most[position];
        // The index, 0 to 3, of the first element that equals the largest one. It is computed
        // without branches, because their outcome would depend on the data and be mispredicted
        // often.
        const int first =
            static_cast<int>(!is_most(u[0], m)) *
            (1 + static_cast<int>(!is_most(u[1], m)) * (1 + static_cast<int>(!is_most(l[0], m))));
        for (const int i : positions) to[at + i] = 0;
        to[at + positions[first]] = grad[position];
      }
  }
  /// Adds the gradient of each window to the first position of its largest element. The loops run
  /// backwards and keep the last match, which is this position, so that no branch depends on the
  /// data.
  template <class Real>
  static void give_to_first(const pool_windows& w, const Real* image, const Real* most,
                            const Real* grad, Real* to) {
    for (int y = 0; y < w.height.out; ++y) {
      const int top = w.height.first(y), bottom = w.height.end(y);
      for (int x = 0; x < w.width.out; ++x, ++grad, ++most) {
        const int left = w.width.first(x), right = w.width.end(x);
        std::ptrdiff_t position = static_cast<std::ptrdiff_t>(top) * w.width.in + left;
        for (int i = bottom - 1; i >= top; --i)
          for (int j = right - 1; j >= left; --j) {
            const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i) * w.width.in + j;
            position = is_most(image[at], *most) ? at : position;
          }
        to[position] += *grad;
      }
    }
  }
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::pool2d>::run(const call_context& c) {
  const operand x = c.input(0), y = c.output(0);
  require_real<Real>(c, x);
  const pool_windows w(c, x, y);
  Real* const line = numbers_at<Real>(c.scratch());
  for (int r = 0; r < x.rows; ++r)
    for (int channel = 0; channel < w.channels; ++channel) {
      const Real* from = x.row<const Real>(r) + channel * w.in_size();
      Real* to = y.row<Real>(r) + channel * w.out_size();
      if constexpr (std::is_same_v<Real, float>)
        if (w.are_squares()) {
          squares(w, from, to);
          continue;
        }
      if (w.is_average)
        averages(w, from, to, line);
      else
        maxima(w, from, to, line);
    }
}
LAMINA_INSTANCE(void call_kernel<operators::pool2d>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::pool2d>::run<double>(const call_context&))

template <class Real>
std::ptrdiff_t call_kernel<operators::pool2d>::scratch(const call_context& c) {
  return in_floats<Real>(padded(c.input(0).dims[3]));
}
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<operators::pool2d>::scratch<float>(const call_context&))
LAMINA_INSTANCE(std::ptrdiff_t call_kernel<operators::pool2d>::scratch<double>(const call_context&))

template <class Real>
void call_kernel<gradient_of<operators::pool2d>>::run(const call_context& c) {
  const operand x = c.input(0), y = c.input(1), d = c.input(2), dx = c.output(0);
  if (!dx) return;
  const pool_windows w(c, x, y);
  const bool are_squares = std::is_same_v<Real, float> && w.are_squares();
  const bool writes_all = are_squares && !w.is_average && 2 * w.height.out == w.height.in &&
                          2 * w.width.out == w.width.in;
  if (!writes_all) clear(dx);
  for (int r = 0; r < x.rows; ++r)
    for (int channel = 0; channel < w.channels; ++channel) {
      const std::ptrdiff_t in = channel * w.in_size(), out = channel * w.out_size();
      const Real* grad = d.row<const Real>(r) + out;
      Real* to = dx.row<Real>(r) + in;
      const Real *const image = x.row<const Real>(r) + in, *const most = y.row<const Real>(r) + out;
      if constexpr (std::is_same_v<Real, float>)
        if (are_squares && !w.is_average) {
          give_to_first_of_squares(w, image, most, grad, to);
          continue;
        }
      if (w.is_average)
        spread(w, grad, to);
      else
        give_to_first(w, image, most, grad, to);
    }
}
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::pool2d>>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<gradient_of<operators::pool2d>>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
