// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/pool_kernels.hpp - what windows of images hold: pool2d.
#pragma once

#include <algorithm>
#include <limits>

#include <lamina/engine/cpu/row_math.hpp>
#include <lamina/operators/pool.hpp>

namespace lamina::engine::cpu {

namespace detail {

/// One side of the windows of a pool2d.
struct pool_side {
  int in, out, size, stride, padding;
  bool adaptive;

  /// The elements from first to before end that window i holds.
  int first(int i) const {
    if (adaptive) return static_cast<int>(static_cast<std::ptrdiff_t>(i) * in / out);
    return std::max(i * stride - padding, 0);
  }
  int end(int i) const {
    if (adaptive)
      return static_cast<int>((static_cast<std::ptrdiff_t>(i + 1) * in + out - 1) / out);
    return std::min(i * stride - padding + size, in);
  }
};

/// The windows of a pool2d.
struct pool_windows {
  bool is_average, counts_padding;
  pool_side height, width;
  int channels;

  pool_windows(const call_context& c, const operand& x, const operand& y)
      : is_average(text_of(c, 0) == "avg"),
        counts_padding(!c.flag(5) && !c.flag(6)),
        height(side(c, x, y, 0)),
        width(side(c, x, y, 1)),
        channels(x.dims[1]) {
    if (!is_average && text_of(c, 0) != "max")
      fail(c, {"expected a pooling_type 'max' or 'avg', found '", text_of(c, 0), "'"});
  }

  std::ptrdiff_t in_size() const { return static_cast<std::ptrdiff_t>(height.in) * width.in; }
  std::ptrdiff_t out_size() const { return static_cast<std::ptrdiff_t>(height.out) * width.out; }
  /// One over the number of elements of an average.
  float share(int rows, int columns) const {
    return 1.0F / static_cast<float>(counts_padding ? height.size * width.size : rows * columns);
  }

 private:
  static pool_side side(const call_context& c, const operand& x, const operand& y, int d) {
    const bool whole = c.flag(2);
    const int in = x.dims[2 + d];
    return {in,
            y.dims[2 + d],
            whole ? in : c.integer_at(1, d),
            whole ? 1 : c.integer_at(3, d),
            whole ? 0 : c.integer_at(4, d),
            c.flag(6)};
  }
};

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
    const detail::pool_windows w(c, x, y);
    float* const line = c.scratch();
    for (int r = 0; r < x.rows; ++r)
      for (int channel = 0; channel < w.channels; ++channel) {
        const float* from = x.row<const float>(r) + channel * w.in_size();
        float* to = y.row<float>(r) + channel * w.out_size();
        if (w.is_average)
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
  static void maxima(const detail::pool_windows& w, const float* from, float* to, float* line) {
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
  static void averages(const detail::pool_windows& w, const float* from, float* to, float* line) {
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
    const detail::pool_windows w(c, x, y);
    clear(dx);
    for (int r = 0; r < x.rows; ++r)
      for (int channel = 0; channel < w.channels; ++channel) {
        const std::ptrdiff_t in = channel * w.in_size(), out = channel * w.out_size();
        const float* slope = d.row<const float>(r) + out;
        float* to = dx.row<float>(r) + in;
        if (w.is_average)
          spread(w, slope, to);
        else
          give_to_first(w, x.row<const float>(r) + in, y.row<const float>(r) + out, slope, to);
      }
  }

 private:
  static void spread(const detail::pool_windows& w, const float* slope, float* to) {
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
  /// The first place of the largest element is found from behind, without a branch on values.
  static void give_to_first(const detail::pool_windows& w, const float* image, const float* most,
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
