// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/conv/depthwise.hpp - the gradients of convolutions in which every channel of
// the larger image is a separate group. plane_conv.hpp has the convolution itself.
//
// As a matrix product, each group would have only one row, and vectors could not be used well.
// Instead, each vector holds one element of several channels: images are transposed so that the
// channels of a vector are adjacent. Strides, dilations and paddings then only change addresses.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstring>

#include <lamina/engine/cpu/conv/channel_squares.hpp>
#include <lamina/engine/cpu/conv/image_rows.hpp>
#include <lamina/engine/cpu/conv/spread_image.hpp>
#include <lamina/engine/cpu/memory/scratch_arena.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

/// The number of taps whose gradients a kernel keeps in registers.
inline constexpr int depthwise_taps = 9;

/// image[at[i] + position[tap]] += filter[tap] * gradient[i] for all i < count and all taps. Each
/// element is a vector of channels.
template <class = void>
LAMINA_NOINLINE inline void depthwise_spread(int count, const int* at, const float* grad, int taps,
                                             const int* position, const float* filter,
                                             float* image) {
  for (int t = 0; t < taps; ++t) {
    const vector w = vector::load_unaligned(filter + t * lanes);
    float* const to = image + position[t];
    for (int i = 0; i < count; ++i)
      fused_multiply_add(vector::load_unaligned(grad + i * lanes), w,
                         vector::load_unaligned(to + at[i]))
          .store_unaligned(to + at[i]);
  }
}

/// sums[tap] += the sum over windows of gradient[i] * image[at[i] + position[tap]], for
/// depthwise_taps taps.
template <class = void>
LAMINA_NOINLINE inline void depthwise_gradient(int count, const int* at, const float* image,
                                               const float* grad, const int* position,
                                               float* sums) {
  vector sum[depthwise_taps];
  const float* from[depthwise_taps];
  LAMINA_UNROLL for (int t = 0; t < depthwise_taps; ++t) {
    sum[t] = vector::load_unaligned(sums + t * lanes);
    from[t] = image + position[t];
  }
  for (int i = 0; i < count; ++i, grad += lanes) {
    const std::ptrdiff_t window = at[i];
    vector d = vector::load_unaligned(grad);
    hold_in_register(d);
    LAMINA_UNROLL for (int t = 0; t < depthwise_taps; ++t) {
      sum[t] = fused_multiply_add(vector::load_unaligned(from[t] + window), d, sum[t]);
    }
  }
  LAMINA_UNROLL for (int t = 0; t < depthwise_taps; ++t) {
    sum[t].store_unaligned(sums + t * lanes);
  }
}

}  // namespace detail

/// The gradients of a convolution with a shape for which suits() is true. A channel may have any
/// number of filters.
class depthwise {
 public:
  static constexpr bool suits(const conv_shape& s) {
    return s.large_channels == 1 && s.groups >= lanes && s.side[0].large == 1 &&
           s.side[0].smaller == 1 && s.side[0].filter == 1 && s.side[1].padding >= 0 &&
           s.side[2].padding >= 0;
  }

  LAMINA_API LAMINA_NOINLINE explicit depthwise(const conv_shape& s);

  LAMINA_LAZY LAMINA_API LAMINA_COLD std::ptrdiff_t scratch() const;

  /// Sets `large` to the bias, and adds each element of `smaller` times its filter to the window of
  /// `large` that belongs to the element.
  LAMINA_LAZY LAMINA_API void backward(int samples, const image_rows& smaller, const float* filter,
                                       std::ptrdiff_t filter_stride, const float* bias,
                                       const image_rows& large, float* scratch,
                                       const image_epilogue& done) const;

  /// The gradient of the filters. Each tap is the sum, over samples and windows, of the gradient of
  /// the smaller image times the element of the larger image under the tap.
  LAMINA_LAZY LAMINA_API void filter_gradient(int samples, const image_rows& large,
                                              const image_rows& grad, float* filter,
                                              std::ptrdiff_t filter_stride, float* scratch) const;

 private:
  int rest(int c) const { return channels_ - c < lanes ? channels_ - c : lanes; }
  int windows() const { return side_[0].smaller * side_[1].smaller; }
  int large_size() const { return side_[0].large * side_[1].large; }
  static int rounded(int n, int to) { return (n + to - 1) / to * to; }
  int rounded_taps() const { return rounded(taps_, detail::depthwise_taps); }
  /// The offset of row y of the larger image in its padded copy.
  std::ptrdiff_t position_of(int y) const {
    return (static_cast<std::ptrdiff_t>(y + side_[0].padding) * seen_[1] + side_[1].padding) *
           lanes;
  }
  /// Whether the padded copy would equal the larger image.
  bool is_image() const {
    return seen_[0] == side_[0].large && seen_[1] == side_[1].large && side_[0].padding == 0 &&
           side_[1].padding == 0;
  }

  struct addresses {
    float *image, *dense, *windows, *filters;
    int *at, *taps;
  };
  /// Divides the scratch memory into five arrays: a padded copy of one vector of channels of the
  /// larger image, a copy without padding, the smaller image, the filters, and the positions of
  /// windows and taps.
  LAMINA_LAZY LAMINA_API LAMINA_NOINLINE addresses lay_out(scratch_arena& arena) const;
  std::ptrdiff_t filter_floats() const { return rounded_taps() * lanes; }
  float* filters_of(const addresses& p, int c, int m) const {
    return p.filters + (static_cast<std::ptrdiff_t>(c / lanes) * filters_ + m) * filter_floats();
  }

  /// Stores the positions of windows and taps, and sets the padded copy to zeros. The number of
  /// taps is rounded up; the additional taps repeat the last real position.
  LAMINA_LAZY LAMINA_API LAMINA_NOINLINE void fill(const addresses& p) const;
  LAMINA_LAZY LAMINA_API LAMINA_NOINLINE void pack(const float* filter, std::ptrdiff_t stride,
                                                   const addresses& p) const;
  /// Copies channels c to c + lanes - 1 of a larger image to the layout that the kernels read, and
  /// returns the copy.
  LAMINA_LAZY LAMINA_API LAMINA_NOINLINE const float* see(const float* image, int c,
                                                          const addresses& p) const;
  template <class = void>
  LAMINA_NOINLINE void turn_grad(const float* image, int c, int m, const addresses& p) const {
    gather_lanes(image + (static_cast<std::ptrdiff_t>(c) * filters_ + m) * windows(),
                 static_cast<std::ptrdiff_t>(filters_) * windows(), rest(c), windows(), p.windows);
  }

  int channels_, filters_;  // `filters_`: filters per channel
  int taps_;
  conv_side side_[2];  // height, width
  int seen_[2];
};

#if LAMINA_DEFINES

LAMINA_LAZY_BODY std::ptrdiff_t depthwise::scratch() const {
  scratch_arena arena;
  (void)lay_out(arena);
  return arena.used();
}

#endif  // LAMINA_DEFINES

#if LAMINA_DEFINES

depthwise::depthwise(const conv_shape& s)
    : channels_(s.groups), filters_(s.small_channels), taps_(s.taps()) {
  for (int d = 0; d < 2; ++d) {
    side_[d] = s.side[d + 1];
    seen_[d] =
        (side_[d].smaller - 1) * side_[d].stride + (side_[d].filter - 1) * side_[d].dilation + 1;
    // The copy holds the whole image, including the parts that no window covers.
    const int image = side_[d].padding + side_[d].large;
    if (seen_[d] < image) seen_[d] = image;
  }
}

LAMINA_LAZY_BODY void depthwise::backward(int samples, const image_rows& smaller,
                                          const float* filter, std::ptrdiff_t filter_stride,
                                          const float* bias, const image_rows& large,
                                          float* scratch, const image_epilogue& done) const {
  scratch_arena arena(scratch);
  const addresses p = lay_out(arena);
  fill(p);
  pack(filter, filter_stride, p);
  for (int n = 0; n < samples; ++n) {
    for (int c = 0; c < channels_; c += lanes) {
      alignas(64) float more[lanes] = {};
      for (int i = 0; i < rest(c) && bias != nullptr; ++i) more[i] = bias[c + i];
      const vector start = vector::load_aligned(more);
      for (int i = 0; i < seen_[0] * seen_[1]; ++i) start.store_unaligned(p.image + i * lanes);
      for (int m = 0; m < filters_; ++m) {
        turn_grad(smaller.data + n * smaller.stride, c, m, p);
        // One row of windows at a time, so that the elements to which the taps of the row add stay
        // in the cache.
        const int width = side_[1].smaller;
        for (int i = 0; i < windows(); i += width)
          detail::depthwise_spread(width, p.at + i, p.windows + i * lanes, taps_, p.taps,
                                   filters_of(p, c, m), p.image);
      }
      const std::size_t row = sizeof(float) * static_cast<std::size_t>(side_[1].large * lanes);
      for (int y = 0; y < side_[0].large; ++y)
        std::memcpy(p.dense + y * side_[1].large * lanes, p.image + position_of(y), row);
      scatter_lanes(p.dense, rest(c), large_size(),
                    large.data + n * large.stride + static_cast<std::ptrdiff_t>(c) * large_size(),
                    large_size());
    }
    done(n);
  }
}

LAMINA_LAZY_BODY void depthwise::filter_gradient(int samples, const image_rows& large,
                                                 const image_rows& grad, float* filter,
                                                 std::ptrdiff_t filter_stride,
                                                 float* scratch) const {
  scratch_arena arena(scratch);
  const addresses p = lay_out(arena);
  fill(p);
  for (int c = 0; c < channels_; c += lanes)
    for (int m = 0; m < filters_; ++m) {
      float* const sums = filters_of(p, 0, 0);
      std::memset(sums, 0, sizeof(float) * static_cast<std::size_t>(rounded_taps() * lanes));
      for (int n = 0; n < samples; ++n) {
        const float* const image = see(large.data + n * large.stride, c, p);
        turn_grad(grad.data + n * grad.stride, c, m, p);
        for (int t = 0; t < taps_; t += detail::depthwise_taps)
          detail::depthwise_gradient(windows(), p.at, image, p.windows, p.taps + t,
                                     sums + t * lanes);
      }
      scatter_lanes(sums, rest(c), taps_,
                    filter + (static_cast<std::ptrdiff_t>(c) * filters_ + m) * filter_stride,
                    filters_ * filter_stride);
    }
}

LAMINA_LAZY_BODY depthwise::addresses depthwise::lay_out(scratch_arena& arena) const {
  const int blocks = (channels_ + lanes - 1) / lanes;
  addresses p;
  p.image = arena.take(static_cast<std::ptrdiff_t>(seen_[0]) * seen_[1] * lanes);
  p.dense = arena.take(static_cast<std::ptrdiff_t>(large_size()) * lanes);
  p.windows = arena.take(static_cast<std::ptrdiff_t>(windows()) * lanes);
  p.filters = arena.take(static_cast<std::ptrdiff_t>(blocks) * filters_ * filter_floats());
  p.at = arena.take_integers(windows());
  p.taps = arena.take_integers(rounded_taps());
  return p;
}

LAMINA_LAZY_BODY void depthwise::fill(const addresses& p) const {
  std::memset(p.image, 0, sizeof(float) * static_cast<std::size_t>(seen_[0] * seen_[1] * lanes));
  int n = 0;
  for (int y = 0; y < side_[0].smaller; ++y)
    for (int x = 0; x < side_[1].smaller; ++x)
      p.at[n++] = (y * side_[0].stride * seen_[1] + x * side_[1].stride) * lanes;
  n = 0;
  for (int y = 0; y < side_[0].filter; ++y)
    for (int x = 0; x < side_[1].filter; ++x)
      p.taps[n++] = (y * side_[0].dilation * seen_[1] + x * side_[1].dilation) * lanes;
  for (; n < rounded_taps(); ++n) p.taps[n] = p.taps[n - 1];
}

LAMINA_LAZY_BODY void depthwise::pack(const float* filter, std::ptrdiff_t stride,
                                      const addresses& p) const {
  for (int c = 0; c < channels_; c += lanes)
    for (int m = 0; m < filters_; ++m)
      gather_lanes(filter + (static_cast<std::ptrdiff_t>(c) * filters_ + m) * stride,
                   filters_ * stride, rest(c), taps_, filters_of(p, c, m));
}

LAMINA_LAZY_BODY const float* depthwise::see(const float* image, int c, const addresses& p) const {
  const float* const from = image + static_cast<std::ptrdiff_t>(c) * large_size();
  const int height = side_[0].large, width = side_[1].large;
  if (!is_image() && width % lanes == 0) {
    for (int y = 0; y < height; ++y)
      gather_lanes(from + static_cast<std::ptrdiff_t>(y) * width, large_size(), rest(c), width,
                   p.image + position_of(y));
    return p.image;
  }
  gather_lanes(from, large_size(), rest(c), large_size(), p.dense);
  if (is_image()) return p.dense;
  const std::size_t row = sizeof(float) * static_cast<std::size_t>(width * lanes);
  for (int y = 0; y < height; ++y)
    std::memcpy(p.image + position_of(y), p.dense + y * width * lanes, row);
  return p.image;
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
