// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/conv/unrolled_conv.hpp - convolutions as matrix products of filters and copied
// windows (im2col). They are for element types other than float, which the faster algorithms do not
// support.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>

#include <lamina/engine/common/real_numbers.hpp>
#include <lamina/engine/cpu/gemm/gemm_row_major.hpp>
#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/conv/common.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// Computes small = filter * windows(large) for each image and group, and the two gradients. The
/// matrix windows(large) has one row per element of a filter and one column per position of the
/// small image.
template <class Real>
class unrolled_conv {
 public:
  explicit unrolled_conv(const conv_shape& s)
      : shape_(s), depth_(s.large_channels * s.taps()), positions_(s.small_size()) {}

  /// The size of the scratch memory in floats, enough for each of the three functions below.
  std::ptrdiff_t scratch() const {
    const int channels = shape_.small_channels;
    return in_floats<Real>(
        window_numbers() +
        (std::max)({gemm_row_major_scratch_floats<Real>(channels, depth_, positions_),
                    gemm_row_major_scratch_floats<Real>(depth_, channels, positions_),
                    gemm_row_major_scratch_floats<Real>(channels, positions_, depth_)}));
  }

  /// small[n][o] = bias[o] + the products of the windows of large[n] with filter o.
  void forward(const operand& large, const operand& filter, const Real* bias,
               const operand& smaller, float* scratch) const {
    each(large, smaller, scratch,
         [&](int g, const Real* from, Real* to, Real* windows, Real* memory) {
           unroll(from, windows);
           gemm_row_major(shape_.small_channels, depth_, positions_, 1, filter_of(filter, g),
                          {windows, positions_}, to, positions_, false, memory);
           for (int o = 0; bias != nullptr && o < shape_.small_channels; ++o)
             for (int i = 0; i < positions_; ++i)
               to[static_cast<std::ptrdiff_t>(o) * positions_ + i] +=
                   bias[g * shape_.small_channels + o];
         });
  }
  /// Sets large[n] to the bias and adds each element of small[n] times its filter to the window of
  /// large[n] that belongs to the element. This is the gradient of the input of forward(), or a
  /// transposed convolution.
  void backward(const operand& smaller, const operand& filter, const Real* bias,
                const operand& large, float* scratch) const {
    each(large, smaller, scratch,
         [&](int g, Real* to, const Real* from, Real* windows, Real* memory) {
           matrix w = filter_of(filter, g);
           w.transposed = true;
           gemm_row_major(depth_, shape_.small_channels, positions_, 1, w, {from, positions_},
                          windows, positions_, false, memory);
           for (int c = 0; c < shape_.large_channels; ++c)
             std::fill_n(to + static_cast<std::ptrdiff_t>(c) * shape_.large_size(),
                         shape_.large_size(),
                         bias == nullptr ? Real(0) : bias[g * shape_.large_channels + c]);
           roll_up(windows, to);
         });
  }
  /// filter += the products of the windows of large with small, over all images.
  void add_filter_gradient(const operand& large, const operand& smaller, const operand& filter,
                           float* scratch) const {
    each(large, smaller, scratch,
         [&](int g, const Real* from, const Real* grad, Real* windows, Real* memory) {
           unroll(from, windows);
           Real* const to = filter.row<Real>(g * shape_.small_channels);
           gemm_row_major(shape_.small_channels, positions_, depth_, 1, {grad, positions_},
                          {windows, positions_, true}, to, filter.stride, true, memory);
         });
  }

 private:
  using matrix = basic_matrix_operand<Real>;

  std::ptrdiff_t window_numbers() const {
    const std::ptrdiff_t n = static_cast<std::ptrdiff_t>(depth_) * positions_;
    return (n + alignment_floats - 1) / alignment_floats * alignment_floats;
  }
  matrix filter_of(const operand& filter, int g) const {
    return {filter.row<const Real>(g * shape_.small_channels), filter.stride};
  }
  /// For each group of each sample, calls f(group, larger image, smaller image, memory for windows,
  /// memory for products).
  template <class F>
  void each(const operand& large, const operand& smaller, float* scratch, F f) const {
    Real* const windows = numbers_at<Real>(scratch);
    for (int n = 0; n < smaller.rows; ++n)
      for (int g = 0; g < shape_.groups; ++g)
        f(g,
          large.row<Real>(n) +
              static_cast<std::ptrdiff_t>(g) * shape_.large_channels * shape_.large_size(),
          smaller.row<Real>(n) +
              static_cast<std::ptrdiff_t>(g) * shape_.small_channels * positions_,
          windows, windows + window_numbers());
  }
  /// Calls f(i, j) for each element of the matrix of windows: i is its index in the matrix, and j
  /// is the index in the image of the element that is copied there, or -1 for padding.
  template <class F>
  void each_tap(F f) const {
    const conv_side &z = shape_.side[0], &y = shape_.side[1], &x = shape_.side[2];
    std::ptrdiff_t at = 0;
    for (int c = 0; c < shape_.large_channels; ++c)
      for (int i = 0; i < z.filter; ++i)
        for (int j = 0; j < y.filter; ++j)
          for (int k = 0; k < x.filter; ++k)
            for (int p = 0; p < z.smaller; ++p)
              for (int q = 0; q < y.smaller; ++q) {
                const int depth = p * z.stride - z.padding + i * z.dilation;
                const int row = q * y.stride - y.padding + j * y.dilation;
                const bool inside = depth >= 0 && depth < z.large && row >= 0 && row < y.large;
                const std::ptrdiff_t line =
                    ((static_cast<std::ptrdiff_t>(c) * z.large + depth) * y.large + row) * x.large;
                for (int r = 0; r < x.smaller; ++r, ++at) {
                  const int column = r * x.stride - x.padding + k * x.dilation;
                  f(at, inside && column >= 0 && column < x.large ? line + column : -1);
                }
              }
  }
  void unroll(const Real* image, Real* windows) const {
    each_tap([=](std::ptrdiff_t at, std::ptrdiff_t from) {
      windows[at] = from < 0 ? Real(0) : image[from];
    });
  }
  void roll_up(const Real* windows, Real* image) const {
    each_tap([=](std::ptrdiff_t at, std::ptrdiff_t to) {
      if (to >= 0) image[to] += windows[at];
    });
  }

  conv_shape shape_;
  int depth_, positions_;
};

}}}  // namespace lamina::engine::cpu
