// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/conv/pointwise_conv.hpp - convolutions with filters of 1 by 1 of small images.
// An image of 7 by 7 or 14 by 14 has few elements but many channels, so the filters are larger than
// the image. They are read where they are, once for each image.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <utility>

#include <lamina/engine/cpu/conv/correlate.hpp>
#include <lamina/engine/cpu/conv/image_rows.hpp>
#include <lamina/engine/cpu/gemm/gemm_block.hpp>
#include <lamina/engine/cpu/gemm/panel_copies.hpp>
#include <lamina/engine/cpu/memory/scratch_arena.hpp>
#include <lamina/engine/cpu/vector/lane_order.hpp>
#include <lamina/engine/cpu/vector/lane_sums.hpp>
#include <lamina/operators/conv/common.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

/// The register tile of a small image: most filters, and most vectors of elements. Three vectors
/// hold nearly all of the 49 elements of an image of 7 by 7.
inline constexpr int pointwise_vectors = 3;
inline constexpr int pointwise_rows =
    (vector_registers - pointwise_vectors - 1) / pointwise_vectors;
/// The least number of filters of a tile, if there are at least `lanes` filters.
constexpr int find_least_pointwise_rows() {
  int least = pointwise_rows;
  for (int n = lanes; n < lanes + 4 * pointwise_rows; ++n) {
    const even_parts tiles(n, pointwise_rows);
    const int shortest = tiles.size(tiles.count() - 1);
    if (shortest < least) least = shortest;
  }
  return least;
}
inline constexpr int least_pointwise_rows = find_least_pointwise_rows();

/// The kernels of tiles of `Vectors` vectors, by the number of filters.
template <int Vectors>
correlation_kernel find_pointwise_kernel(int rows) {
  using row_counts = std::make_integer_sequence<int, pointwise_rows - least_pointwise_rows + 1>;
  return correlation_kernels<Vectors, least_pointwise_rows,
                             row_counts>::table[rows - least_pointwise_rows];
}

}  // namespace detail

/// A convolution with a shape for which suits() is true.
class pointwise_conv {
 public:
  /// Whether the filters have one tap and the image so few elements that it pays to read the
  /// filters in place. The whole image must be read.
  static constexpr bool suits(const conv_shape& s) {
    for (const conv_side& a : s.side)
      if (a.filter != 1 || a.stride != 1 || a.padding != 0) return false;
    return s.groups == 1 && s.small_size() <= 256 && s.large_channels >= lanes &&
           s.small_channels >= lanes;
  }

  explicit pointwise_conv(const conv_shape& s)
      : size_(s.small_size()), depth_(s.large_channels), filters_(s.small_channels) {
    const int rest = size_ % lanes;
    // A vector of elements costs as much as the products of four to five single elements.
    lone_ = rest * 4 <= lanes ? rest : 0;
    vectors_ = (size_ - lone_ + lanes - 1) / lanes;
  }

  LAMINA_LAZY LAMINA_API LAMINA_COLD std::ptrdiff_t scratch() const;

  /// small[n][o] = bias[o] + the sum over c of filter[o][c] * large[n][c].
  LAMINA_LAZY LAMINA_API void forward(int samples, const image_rows& large, const float* filter,
                                      std::ptrdiff_t filter_stride, const float* bias,
                                      const image_rows& smaller, float* scratch,
                                      const image_epilogue& done) const;

 private:
  struct addresses {
    float* filters;  // a copy of the filters of a tile
    float* lone;     // the elements that are not multiplied as vectors: all channels of one, ...
    float* image;    // a copy of an image that is smaller than a vector
    float* sums;     // its products
    int* steps;      // the offset of each channel
  };
  /// The distance between the copies of two filters, which do not evict each other.
  std::ptrdiff_t copy_stride() const { return padded(depth_) + alignment_floats; }
  bool is_copied() const { return vectors_ > 0 && size_ < lanes; }
  addresses lay_out(scratch_arena& arena) const {
    addresses p;
    p.filters = arena.take(copy_stride() * detail::pointwise_rows);
    p.lone = arena.take(static_cast<std::ptrdiff_t>(padded(depth_)) * lone_);
    p.image = arena.take(is_copied() ? static_cast<std::ptrdiff_t>(depth_) * lanes : 0);
    p.sums = arena.take(is_copied() ? detail::pointwise_rows * lanes : 0);
    p.steps = arena.take_integers(depth_);
    return p;
  }
  /// Copies the elements of an image that are not read where they are.
  LAMINA_LAZY LAMINA_API LAMINA_NOINLINE void copy(const float* image, const addresses& p) const;
  /// Multiplies an image with the `count` filters of a tile.
  LAMINA_LAZY LAMINA_API LAMINA_NOINLINE void multiply(const float* image, const addresses& p,
                                                       const float* filter,
                                                       std::ptrdiff_t filter_stride, int count,
                                                       const float* bias, float* to) const;
  /// Computes the products of one element, `element` of all channels, with up to `lanes` filters.
  /// The products are one channel apart.
  LAMINA_LAZY LAMINA_API LAMINA_NOINLINE void dot(const float* element, const float* filter,
                                                  std::ptrdiff_t filter_stride, int count,
                                                  const float* bias, float* to) const;

  int size_, depth_, filters_;
  int lone_;     // the elements that dot() multiplies, the last ones of the image
  int vectors_;  // the vectors of the other elements
};

#if LAMINA_DEFINES

LAMINA_LAZY_BODY std::ptrdiff_t pointwise_conv::scratch() const {
  scratch_arena arena;
  (void)lay_out(arena);
  return arena.used();
}

LAMINA_LAZY_BODY void pointwise_conv::copy(const float* image, const addresses& p) const {
  for (int i = 0; i < lone_; ++i)
    for (int k = 0; k < depth_; ++k)
      p.lone[i * padded(depth_) + k] = image[k * size_ + size_ - lone_ + i];
  if (is_copied()) detail::copy_rows_padded(depth_, size_, lanes, image, size_, p.image, lanes);
}

LAMINA_LAZY_BODY void pointwise_conv::multiply(const float* image, const addresses& p,
                                               const float* filter, std::ptrdiff_t filter_stride,
                                               int count, const float* bias, float* to) const {
  const even_parts parts(vectors_, detail::pointwise_vectors);
  for (int part = 0; part < parts.count() && vectors_ > 0; ++part) {
    const float* at[detail::pointwise_vectors];
    int positions[detail::pointwise_vectors];
    const int vectors = parts.size(part);
    for (int j = 0; j < vectors; ++j) {
      // The last vector may repeat elements of the vector before it.
      const int first = (parts.first(part) + j) * lanes, last = size_ - lone_ - lanes;
      positions[j] = is_copied() || first < last ? first : last;
      at[j] = (is_copied() ? p.image : image) + positions[j];
    }
    const detail::correlation_tile task{depth_,
                                        {filter, filter_stride, 1},
                                        p.steps,
                                        at,
                                        bias,
                                        is_copied() ? p.sums : to,
                                        is_copied() ? lanes : size_,
                                        positions,
                                        nullptr};
    const auto kernel = vectors == 3   ? detail::find_pointwise_kernel<3>(count)
                        : vectors == 2 ? detail::find_pointwise_kernel<2>(count)
                                       : detail::find_pointwise_kernel<1>(count);
    kernel(task);
  }
  if (is_copied())
    for (int i = 0; i < count; ++i)
      for (int j = 0; j < size_; ++j) to[i * size_ + j] = p.sums[i * lanes + j];
  for (int i = 0; i < lone_; ++i)
    for (int o = 0; o < count; o += lanes)
      dot(p.lone + i * padded(depth_), filter + o * filter_stride, filter_stride,
          count - o < lanes ? count - o : lanes, bias == nullptr ? nullptr : bias + o,
          to + (o + 1) * size_ - lone_ + i);
}

LAMINA_LAZY_BODY void pointwise_conv::dot(const float* element, const float* filter,
                                          std::ptrdiff_t filter_stride, int count,
                                          const float* bias, float* to) const {
  constexpr int together = 4;
  constexpr int rows = lanes > together ? lanes : together;
  vector all[bound(rows)];
  LAMINA_UNROLL for (int i = 0; i < rows; ++i) all[i] = vector(0.F);
  // The last vector of a filter may begin before the end of the vector before it, whose elements
  // it has as zeros.
  const int last = depth_ - lanes, again = (lanes - depth_ % lanes) % lanes;
  const vector none(0.F),
      end = first_lanes<float>(again, none, vector::load_unaligned(element + last));
  for (int i = 0; i < count; i += together) {
    const float* row[together];
    vector sum[together];
    LAMINA_UNROLL for (int r = 0; r < together; ++r) {
      // Rows after the last one repeat it.
      row[r] = filter + (i + r < count ? i + r : count - 1) * filter_stride;
      sum[r] = vector(0.F);
    }
    for (int k = 0; k <= last; k += lanes) {
      const vector x = vector::load_unaligned(element + k);
      LAMINA_UNROLL for (int r = 0; r < together; ++r) {
        sum[r] = fused_multiply_add(vector::load_unaligned(row[r] + k), x, sum[r]);
      }
    }
    LAMINA_UNROLL for (int r = 0; r < together; ++r) {
      if (again > 0)
        sum[r] = fused_multiply_add(
            first_lanes<float>(again, none, vector::load_unaligned(row[r] + last)), end, sum[r]);
      all[i + r] = sum[r];
    }
  }
  alignas(64) float sums[bound(lanes)];
  lane_sums(all, sums);
  for (int i = 0; i < count; ++i) to[i * size_] = sums[i] + (bias == nullptr ? 0.F : bias[i]);
}

LAMINA_LAZY_BODY void pointwise_conv::forward(int samples, const image_rows& large,
                                              const float* filter, std::ptrdiff_t filter_stride,
                                              const float* bias, const image_rows& smaller,
                                              float* scratch, const image_epilogue& done) const {
  scratch_arena arena(scratch);
  const addresses p = lay_out(arena);
  for (int k = 0; k < depth_ && vectors_ > 0; ++k) p.steps[k] = k * (is_copied() ? lanes : size_);
  const even_parts tiles(filters_, vectors_ == 0 ? lanes : detail::pointwise_rows);
  const bool collide = filter_stride % correlation::floats_of_way == 0 && vectors_ > 0;
  for (int n = 0; n < samples; ++n) {
    const float* const image = large.data + n * large.stride;
    float* const to = smaller.data + n * smaller.stride;
    copy(image, p);
    image_progress progress(done, n);
    for (int t = 0; t < tiles.count(); ++t) {
      const int first = tiles.first(t), count = tiles.size(t);
      const float* rows = filter + first * filter_stride;
      if (collide) {
        detail::copy_rows(count, depth_, rows, filter_stride, p.filters, copy_stride());
        rows = p.filters;
      }
      multiply(image, p, rows, collide ? copy_stride() : filter_stride, count,
               bias == nullptr ? nullptr : bias + first,
               to + static_cast<std::ptrdiff_t>(first) * size_);
      progress.reach(static_cast<std::ptrdiff_t>(first + count) * size_);
    }
    progress.finish();
  }
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
