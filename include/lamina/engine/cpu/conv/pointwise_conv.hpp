// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/conv/pointwise_conv.hpp - convolutions with filters of 1 by 1 of small images,
// as products of matrices whose columns are the filters. An image of 7 by 7 has too few elements
// for vectors of windows, but it has many channels.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/cpu/conv/image_rows.hpp>
#include <lamina/engine/cpu/gemm/gemm_block.hpp>
#include <lamina/engine/cpu/gemm/micro_kernel.hpp>
#include <lamina/engine/cpu/gemm/transpose.hpp>
#include <lamina/engine/cpu/memory/scratch_arena.hpp>
#include <lamina/operators/conv/common.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// A convolution with a shape for which suits() is true.
class pointwise_conv {
 public:
  /// Whether the filters have one tap and the image so few elements that it pays to pack the
  /// filters for each run. The whole image must be read.
  static constexpr bool suits(const conv_shape& s) {
    for (const conv_side& a : s.side)
      if (a.filter != 1 || a.stride != 1 || a.padding != 0) return false;
    return s.groups == 1 && s.small_size() <= 256 && s.large_channels >= lanes &&
           s.small_channels >= lanes;
  }

  explicit pointwise_conv(const conv_shape& s)
      : size_(s.small_size()), depth_(s.large_channels), filters_(s.small_channels) {}

  LAMINA_LAZY LAMINA_API LAMINA_COLD std::ptrdiff_t scratch() const;

  /// small[n][o] = bias[o] + the sum over c of filter[o][c] * large[n][c].
  LAMINA_LAZY LAMINA_API void forward(int samples, const image_rows& large, const float* filter,
                                      std::ptrdiff_t filter_stride, const float* bias,
                                      const image_rows& smaller, float* scratch,
                                      const image_epilogue& done) const;

 private:
  struct addresses {
    float *panel, *sums;
  };
  addresses lay_out(scratch_arena& arena) const {
    addresses p;
    // pack_transposed() also writes the padding of the last filters, which may be wider than a
    // panel.
    p.panel = arena.take(static_cast<std::ptrdiff_t>(depth_) * padded(panel_width));
    p.sums = arena.take(static_cast<std::ptrdiff_t>(size_) * panel_width);
    return p;
  }
  /// Multiplies an image with `count` filters, which are packed to a panel of `width` columns.
  LAMINA_LAZY LAMINA_API LAMINA_NOINLINE void multiply(const float* image, const addresses& p,
                                                       int width, int count, const float* bias,
                                                       float* to) const;
  /// Computes the products of an image of one element with up to `lanes` filters.
  LAMINA_LAZY LAMINA_API LAMINA_NOINLINE void dot(const float* image, const float* filter,
                                                  std::ptrdiff_t filter_stride, int count,
                                                  const float* bias, float* to) const;

  int size_, depth_, filters_;
};

#if LAMINA_DEFINES

LAMINA_LAZY_BODY std::ptrdiff_t pointwise_conv::scratch() const {
  scratch_arena arena;
  (void)lay_out(arena);
  return arena.used();
}

LAMINA_LAZY_BODY void pointwise_conv::multiply(const float* image, const addresses& p, int width,
                                               int count, const float* bias, float* to) const {
  const even_parts tiles(size_, tile_rows);
  for (int t = 0; t < tiles.count(); ++t) {
    const int first = tiles.first(t), rows = tiles.size(t);
    float* const sums = p.sums + first * width;
    if (bias != nullptr)
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < count; ++j) sums[i * width + j] = bias[j];
    find_micro_kernel<float>(rows, width)(depth_, {image + first, 1, size_}, p.panel,
                                          bias == nullptr ? nullptr : sums, sums);
  }
  transpose(size_, count, p.sums, width, to, size_);
}

LAMINA_LAZY_BODY void pointwise_conv::dot(const float* image, const float* filter,
                                          std::ptrdiff_t filter_stride, int count,
                                          const float* bias, float* to) const {
  alignas(64) float partial[bound(lanes * lanes)];
  alignas(64) float turned[bound(lanes * lanes)];
  const int whole = depth_ / lanes * lanes;
  constexpr int together = 4;
  for (int i = 0; i < lanes; i += together) {
    const float* row[together];
    vector sum[together];
    LAMINA_UNROLL for (int r = 0; r < together; ++r) {
      // Rows after the last one repeat it.
      row[r] = filter + (i + r < count ? i + r : count - 1) * filter_stride;
      sum[r] = vector(0.F);
    }
    for (int k = 0; k < whole; k += lanes) {
      const vector x = vector::load_unaligned(image + k);
      LAMINA_UNROLL for (int r = 0; r < together; ++r) {
        sum[r] = fused_multiply_add(vector::load_unaligned(row[r] + k), x, sum[r]);
      }
    }
    LAMINA_UNROLL for (int r = 0; r < together; ++r) {
      float* const of_row = partial + (i + r) * lanes;
      sum[r].store_aligned(of_row);
      for (int k = whole; k < depth_; ++k) of_row[k - whole] += row[r][k] * image[k];
    }
  }
  detail::transpose_square(partial, lanes, turned, lanes);
  vector sum = vector::load_aligned(turned);
  for (int j = 1; j < lanes; ++j) sum += vector::load_aligned(turned + j * lanes);
  sum.store_aligned(turned);
  for (int i = 0; i < count; ++i) to[i] = turned[i] + (bias == nullptr ? 0.F : bias[i]);
}

LAMINA_LAZY_BODY void pointwise_conv::forward(int samples, const image_rows& large,
                                              const float* filter, std::ptrdiff_t filter_stride,
                                              const float* bias, const image_rows& smaller,
                                              float* scratch, const image_epilogue& done) const {
  scratch_arena arena(scratch);
  const addresses p = lay_out(arena);
  const int step = size_ == 1 ? lanes : panel_width;
  // Few images share a panel at a time, so that the state of what is finished fits into a fixed
  // array.
  constexpr int most = 16;
  for (int from = 0; from < samples; from += most) {
    const int count = samples - from < most ? samples - from : most;
    std::ptrdiff_t begin[most] = {};
    for (int o = 0; o < filters_; o += step) {
      const int width = size_ == 1 ? lanes : width_of_panel<float>(filters_, o),
                here = filters_ - o < step ? filters_ - o : step;
      const float* const rows = filter + o * filter_stride;
      const float* const more = bias == nullptr ? nullptr : bias + o;
      if (size_ != 1) pack_transposed(depth_, here, rows, filter_stride, p.panel);
      for (int i = 0; i < count; ++i) {
        const int n = from + i;
        const float* const image = large.data + n * large.stride;
        float* const to =
            smaller.data + n * smaller.stride + static_cast<std::ptrdiff_t>(o) * size_;
        if (size_ == 1)
          dot(image, rows, filter_stride, here, more, to);
        else
          multiply(image, p, width, here, more, to);
        image_progress progress(done, n, begin[i]);
        if (o + step < filters_)
          begin[i] = progress.reach(static_cast<std::ptrdiff_t>(o + here) * size_);
        else
          progress.finish();
      }
    }
  }
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
