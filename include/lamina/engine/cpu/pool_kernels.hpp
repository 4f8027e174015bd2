// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/pool_kernels.hpp - what windows of images hold: pool2d.
#pragma once

#include <algorithm>
#include <limits>

#include <lamina/core/math.hpp>
#include <lamina/engine/call/pool_windows.hpp>
#include <lamina/engine/cpu/lane_order.hpp>
#include <lamina/engine/cpu/row_math.hpp>
#include <lamina/operators/pool.hpp>

namespace lamina::engine::cpu {

namespace detail {

/// What squares of two rows hold: f of their four elements. The last vector may repeat some.
template <class F>
LAMINA_INLINE void combine_squares(const float* upper, const float* lower, float* to, int n, F f) {
  const auto both = [=](int x) __attribute__((always_inline)) {
    return f(vector::load_unaligned(upper + x), vector::load_unaligned(lower + x));
  };
  for (int next = 0; n >= lanes && next < n; next += lanes) {
    const int x = next + lanes <= n ? next : n - lanes;
    const vector left = both(2 * x), right = both(2 * x + lanes);
    f(even_lanes(left, right), odd_lanes(left, right)).store_unaligned(to + x);
  }
  for (int x = 0; n < lanes && x < n; ++x)
    to[x] = f(f(upper[2 * x], lower[2 * x]), f(upper[2 * x + 1], lower[2 * x + 1]));
}

/// The same for rows that are a vector: two rows of results at a time. Returns how many were made.
template <class F>
LAMINA_INLINE int combine_short_squares(const float* from, float* to, int rows, F f) {
  int y = 0;
  for (; y + 2 <= rows; y += 2, from += 4 * lanes, to += lanes) {
    const vector upper = f(vector::load_unaligned(from), vector::load_unaligned(from + lanes));
    const vector lower =
        f(vector::load_unaligned(from + 2 * lanes), vector::load_unaligned(from + 3 * lanes));
    f(even_lanes(upper, lower), odd_lanes(upper, lower)).store_unaligned(to);
  }
  return y;
}

// f(to, from) for the elements of a row, in vectors.
template <class F>
LAMINA_INLINE void combine_rows(float* to, const float* from, int n, F f) {
  for_each_place(n, [&](std::ptrdiff_t j, auto like) {
    store(to + j, decltype(like)(f(load(to + j, like), load(from + j, like))));
  });
}

}  // namespace detail

template <>
struct call_kernel<pool2d> {
  template <class = void>
  static void run(const call_context& c) {
    const operand x = c.input(0), y = c.output(0);
    require_float(c, x);
    const pool_windows w(c, x, y);
    float* const line = c.scratch();
    for (int r = 0; r < x.rows; ++r)
      for (int channel = 0; channel < w.channels; ++channel) {
        const float* from = x.row<const float>(r) + channel * w.in_size();
        float* to = y.row<float>(r) + channel * w.out_size();
        if (w.are_squares())
          squares(w, from, to);
        else if (w.is_average)
          averages(w, from, to, line);
        else
          maxima(w, from, to, line);
      }
  }
  /// A row of the image: what the rows of a window have together.
  template <class = void>
  static std::ptrdiff_t scratch(const call_context& c) {
    return padded(c.input(0).dims[3]);
  }

 private:
  static void squares(const pool_windows& w, const float* from, float* to) {
    const auto average = [](auto a, auto b) { return decltype(a)((a + b) * decltype(a)(0.5F)); };
    const auto most = [](auto a, auto b) { return math::max(a, b); };
    if (w.is_average)
      squares(w, from, to, average);
    else
      squares(w, from, to, most);
  }
  template <class F>
  static LAMINA_INLINE void squares(const pool_windows& w, const float* from, float* to, F f) {
    const int n = w.width.in, out = w.width.out;
    int y = 0;
    if (n == lanes && 2 * out == lanes)
      y = detail::combine_short_squares(from, to, w.height.out, f);
    for (from += 2 * y * n, to += y * out; y < w.height.out; ++y, from += 2 * n, to += out)
      detail::combine_squares(from, from + n, to, out, f);
  }
  static void maxima(const pool_windows& w, const float* from, float* to, float* line) {
    const int n = w.width.in;
    for (int y = 0; y < w.height.out; ++y, to += w.width.out) {
      const int top = w.height.first(y), bottom = w.height.end(y);
      std::copy_n(from + static_cast<std::ptrdiff_t>(top) * n, n, line);
      for (int i = top + 1; i < bottom; ++i)
        detail::combine_rows(line, from + static_cast<std::ptrdiff_t>(i) * n, n,
                             [](auto a, auto b) { return math::max(a, b); });
      for (int x = 0; x < w.width.out; ++x) {
        const int end = w.width.end(x);
        float most = line[w.width.first(x)];
        for (int j = w.width.first(x) + 1; j < end; ++j) most = most < line[j] ? line[j] : most;
        to[x] = most;
      }
    }
  }
  static void averages(const pool_windows& w, const float* from, float* to, float* line) {
    const int n = w.width.in;
    for (int y = 0; y < w.height.out; ++y, to += w.width.out) {
      const int top = w.height.first(y), bottom = w.height.end(y);
      std::copy_n(from + static_cast<std::ptrdiff_t>(top) * n, n, line);
      for (int i = top + 1; i < bottom; ++i)
        detail::combine_rows(line, from + static_cast<std::ptrdiff_t>(i) * n, n,
                             [](auto a, auto b) { return a + b; });
      for (int x = 0; x < w.width.out; ++x) {
        const int first = w.width.first(x), end = w.width.end(x);
        float sum = 0;
        for (int j = first; j < end; ++j) sum += line[j];
        to[x] = sum * w.share(bottom - top, end - first);
      }
    }
  }
};

template <>
struct call_kernel<gradient_of<pool2d>> {
  template <class = void>
  static void run(const call_context& c) {
    const operand x = c.input(0), y = c.input(1), d = c.input(2), dx = c.output(0);
    if (!dx) return;
    const pool_windows w(c, x, y);
    const bool writes_all = w.are_squares() && !w.is_average && 2 * w.height.out == w.height.in &&
                            2 * w.width.out == w.width.in;
    if (!writes_all) clear(dx);
    for (int r = 0; r < x.rows; ++r)
      for (int channel = 0; channel < w.channels; ++channel) {
        const std::ptrdiff_t in = channel * w.in_size(), out = channel * w.out_size();
        const float* slope = d.row<const float>(r) + out;
        float* to = dx.row<float>(r) + in;
        if (w.is_average)
          spread(w, slope, to);
        else if (w.are_squares())
          give_to_first_of_squares(w, x.row<const float>(r) + in, y.row<const float>(r) + out,
                                   slope, to);
        else
          give_to_first(w, x.row<const float>(r) + in, y.row<const float>(r) + out, slope, to);
      }
  }

 private:
  static void spread(const pool_windows& w, const float* slope, float* to) {
    for (int y = 0; y < w.height.out; ++y)
      for (int x = 0; x < w.width.out; ++x, ++slope) {
        const int top = w.height.first(y), bottom = w.height.end(y);
        const int left = w.width.first(x), right = w.width.end(x);
        const float part = *slope * w.share(bottom - top, right - left);
        for (int i = top; i < bottom; ++i)
          for (int j = left; j < right; ++j)
            to[static_cast<std::ptrdiff_t>(i) * w.width.in + j] += part;
      }
  }
  static void give_to_first_of_squares(const pool_windows& w, const float* image, const float* most,
                                       const float* slope, float* to) {
    const int n = w.width.in, out = w.width.out;
    for (int y = 0; y < w.height.out; ++y, image += 2 * n, to += 2 * n, most += out, slope += out) {
      const float* const below = image + n;
      float* const to_below = to + n;
      for (int next = 0; out >= lanes && next < out; next += lanes) {
        // The last vector may repeat elements of the one before.
        const int x = next + lanes <= out ? next : out - lanes;
        const auto load_at = [x](const float* p) { return vector::load_unaligned(p + x); };
        const vector m = load_at(most), d = load_at(slope), none(0.F);
        const vector u0 = load_at(image + x), u1 = load_at(image + x + lanes);
        const vector l0 = load_at(below + x), l1 = load_at(below + x + lanes);
        // What is left for the places behind: each takes all of it or nothing.
        const vector a = math::select(even_lanes(u0, u1) == m, d, none);
        vector rest = math::select(even_lanes(u0, u1) == m, none, d);
        const vector b = math::select(odd_lanes(u0, u1) == m, rest, none);
        rest = math::select(odd_lanes(u0, u1) == m, none, rest);
        const vector c = math::select(even_lanes(l0, l1) == m, rest, none);
        rest = math::select(even_lanes(l0, l1) == m, none, rest);
        first_in_turn(a, b).store_unaligned(to + 2 * x);
        second_in_turn(a, b).store_unaligned(to + 2 * x + lanes);
        first_in_turn(c, rest).store_unaligned(to_below + 2 * x);
        second_in_turn(c, rest).store_unaligned(to_below + 2 * x + lanes);
      }
      if (out >= lanes) continue;
      const int places[4] = {0, 1, n, n + 1};
      for (int x = 0; x < out; ++x) {
        const float *const u = image + 2 * x, *const l = below + 2 * x;
        // 0 to 3, without a branch on values.
        const int first =
            static_cast<int>(u[0] != most[x]) *
            (1 + static_cast<int>(u[1] != most[x]) * (1 + static_cast<int>(l[0] != most[x])));
        to[2 * x] = to[2 * x + 1] = to_below[2 * x] = to_below[2 * x + 1] = 0;
        to[2 * x + places[first]] = slope[x];
      }
    }
  }
  /// The first place of the largest element is found from behind, without a branch on values.
  static void give_to_first(const pool_windows& w, const float* image, const float* most,
                            const float* slope, float* to) {
    for (int y = 0; y < w.height.out; ++y) {
      const int top = w.height.first(y), bottom = w.height.end(y);
      for (int x = 0; x < w.width.out; ++x, ++slope, ++most) {
        const int left = w.width.first(x), right = w.width.end(x);
        // Not a number is equal to nothing: then the first place it is.
        std::ptrdiff_t place = static_cast<std::ptrdiff_t>(top) * w.width.in + left;
        for (int i = bottom - 1; i >= top; --i)
          for (int j = right - 1; j >= left; --j) {
            const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i) * w.width.in + j;
            place = image[at] == *most ? at : place;
          }
        to[place] += *slope;
      }
    }
  }
};

}  // namespace lamina::engine::cpu
