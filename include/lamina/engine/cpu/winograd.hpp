// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/winograd.hpp - convolutions with filters of 3 by 3 in 16 products for four
// results instead of 36: F(2x2, 3x3) of Lavin and Gray (2015), after Winograd (1980).
//
// A result of 2 by 2 is A^T [(G g G^T) * (B^T d B)] A, where d is the 4 by 4 of the image that it
// sees. The element by element products, summed over channels, are 16 products of matrices: filters
// by channels times channels by tiles. All factors are 1 or 1/2, so the error is near that of the
// plain sum.
#pragma once

#include <cstddef>
#include <cstring>

#include <lamina/engine/cpu/conv_shape.hpp>
#include <lamina/engine/cpu/correlate.hpp>
#include <lamina/engine/cpu/image_rows.hpp>

namespace lamina::engine::cpu {

namespace detail {

/// Places of a transformed tile.
inline constexpr int winograd_places = 16;

/// to[i * step] = one row of the transform of four values: d0 - d2, d1 + d2, d2 - d1, d1 - d3.
LAMINA_INLINE void store_transformed(vector d0, vector d1, vector d2, vector d3, float* to,
                                     std::ptrdiff_t step) {
  (d0 - d2).store_unaligned(to);
  (d1 + d2).store_unaligned(to + step);
  (d2 - d1).store_unaligned(to + 2 * step);
  (d1 - d3).store_unaligned(to + 3 * step);
}

/// Transforms a vector of neighbouring tiles. Rows of even columns lie at `even`, those of odd ones
/// `odd` behind them, rows are `row` apart.
LAMINA_INLINE void transform_tiles(const float* even, std::ptrdiff_t odd, std::ptrdiff_t row,
                                   float* to, std::ptrdiff_t step) {
  const auto at = [=](int y, int x) __attribute__((always_inline)) {
    return vector::load_unaligned(even + y * row + x % 2 * odd + x / 2);
  };
  store_transformed(at(0, 0) - at(2, 0), at(0, 1) - at(2, 1), at(0, 2) - at(2, 2),
                    at(0, 3) - at(2, 3), to, step);
  store_transformed(at(1, 0) + at(2, 0), at(1, 1) + at(2, 1), at(1, 2) + at(2, 2),
                    at(1, 3) + at(2, 3), to + 4 * step, step);
  store_transformed(at(2, 0) - at(1, 0), at(2, 1) - at(1, 1), at(2, 2) - at(1, 2),
                    at(2, 3) - at(1, 3), to + 8 * step, step);
  store_transformed(at(1, 0) - at(3, 0), at(1, 1) - at(3, 1), at(1, 2) - at(3, 2),
                    at(1, 3) - at(3, 3), to + 12 * step, step);
}

/// Stores the first `count` of the elements of `a` and `b` in turn.
LAMINA_INLINE void store_in_turn(vector a, vector b, int count, float* to) {
  const vector first = first_in_turn(a, b), second = second_in_turn(a, b);
  if (count >= 2 * lanes) {
    first.store_unaligned(to);
    second.store_unaligned(to + lanes);
    return;
  }
  alignas(64) float all[2 * lanes];
  first.store_aligned(all);
  second.store_aligned(all + lanes);
  int j = 0;
  if (count >= lanes) {
    first.store_unaligned(to);
    j = lanes;
  }
  for (; j < count; ++j) to[j] = all[j];
}

/// G g G^T of `lanes` filters at once.
LAMINA_INLINE void transform_filters(const float (&from)[9][lanes], float (&to)[16][lanes]) {
  const vector half(0.5F);
  vector column[4][3];
  LAMINA_UNROLL for (int x = 0; x < 3; ++x) {
    const vector a = vector::load_aligned(from[x]), b = vector::load_aligned(from[3 + x]),
                 c = vector::load_aligned(from[6 + x]);
    const vector sum = (a + c) * half, middle = b * half;
    column[0][x] = a;
    column[1][x] = sum + middle;
    column[2][x] = sum - middle;
    column[3][x] = c;
  }
  LAMINA_UNROLL for (int y = 0; y < 4; ++y) {
    const vector a = column[y][0], c = column[y][2];
    const vector sum = (a + c) * half, middle = column[y][1] * half;
    a.store_aligned(to[4 * y]);
    (sum + middle).store_aligned(to[4 * y + 1]);
    (sum - middle).store_aligned(to[4 * y + 2]);
    c.store_aligned(to[4 * y + 3]);
  }
}

}  // namespace detail

/// A convolution of images whose shape suits() it; results as those of conv_forward.
class winograd {
 public:
  /// Whether the transforms cost less than the products that they save.
  static bool suits(const conv_shape& s) {
    bool small_filter = s.side[0].large == 1 && s.side[0].small == 1 && s.side[0].filter == 1;
    for (int d = 1; d < 3; ++d)
      small_filter = small_filter && s.side[d].filter == 3 && s.side[d].stride == 1 &&
                     s.side[d].dilation == 1 && s.side[d].padding >= 0 && s.side[d].padding <= 2 &&
                     s.side[d].small >= 6;
    return small_filter && s.groups == 1 && s.large_channels >= 16 && s.small_channels >= 16 &&
           s.small_size() >= 64;
  }

  explicit winograd(const conv_shape& s)
      : channels_(s.large_channels),
        filters_(s.small_channels),
        height_(s.side[1].small),
        width_(s.side[2].small),
        tile_rows_((height_ + 1) / 2),
        tiles_((width_ + 1) / 2),
        filter_tiles_(filters_, tile_rows) {
    image_height_ = s.side[1].large;
    image_width_ = s.side[2].large;
    above_ = s.side[1].padding;
    before_ = s.side[2].padding;
    half_ = (2 * tile_rows_ + 2) * (tiles_ + 1) + 2 * lanes;
    // As many rows of tiles as stay in the cache, but enough that filters are worth reading.
    const int row_floats = detail::winograd_places * (channels_ + filters_) * tiles_;
    const int fitting = (resident_floats + row_floats - 1) / row_floats;
    const int enough = (4 * lanes + tiles_ - 1) / tiles_;
    together_ = fitting > enough ? fitting : enough;
    if (together_ > tile_rows_) together_ = tile_rows_;
    pitch_ = (together_ * tiles_ + lanes - 1) / lanes * lanes;
  }

  std::ptrdiff_t scratch() const {
    scratch_parts parts;
    (void)lay_out(parts);
    return parts.used();
  }

  void run(int samples, const image_rows& large, const float* filter, std::ptrdiff_t filter_stride,
           const float* bias, const image_rows& small, float* scratch,
           const image_epilogue& done) const {
    scratch_parts parts(scratch);
    const places p = lay_out(parts);
    pack(filter, filter_stride, p.filters);
    for (int c = 0; c < channels_; ++c) p.taps[c] = c * pitch_;
    std::memset(p.image, 0, static_cast<std::size_t>(image_floats()) * sizeof(float));
    for (int n = 0; n < samples; ++n) {
      copy(large.data + n * large.stride, p.image);
      for (int row = 0; row < tile_rows_; row += together_) {
        const int rows = tile_rows_ - row < together_ ? tile_rows_ - row : together_;
        transform_image(p.image, row, rows, p.seen);
        multiply(p, rows);
        transform_back(p.sums, bias, row, rows, small.data + n * small.stride);
      }
      done(n);
    }
  }

 private:
  struct places {
    float *image, *filters, *seen, *sums;
    int* taps;
  };
  places lay_out(scratch_parts& parts) const {
    places p;
    p.image = parts.floats(image_floats());
    p.filters = parts.floats(detail::winograd_places * filter_step());
    p.seen = parts.floats(detail::winograd_places * step(channels_) + 2 * lanes);
    p.sums = parts.floats(detail::winograd_places * step(filters_) + 2 * lanes);
    p.taps = parts.integers(channels_);
    return p;
  }
  /// From place to place of transformed tiles: not a multiple of the size of a way of the cache.
  std::ptrdiff_t step(int lines) const {
    return static_cast<std::ptrdiff_t>(lines) * pitch_ + alignment_floats;
  }
  std::ptrdiff_t filter_step() const {
    return static_cast<std::ptrdiff_t>(filters_) * channels_ + alignment_floats;
  }
  /// Each channel: the even columns of the padded image, then the odd ones.
  std::ptrdiff_t image_floats() const {
    return static_cast<std::ptrdiff_t>(channels_) * 2 * half_ + 2 * lanes;
  }

  /// Copies an image into its padding. Vectors that are longer than a row end in zeros, which is
  /// what belongs there until the next row is written.
  LAMINA_NOINLINE void copy(const float* from, float* to) const {
    const std::ptrdiff_t row = tiles_ + 1;
    for (int c = 0; c < channels_; ++c, to += 2 * half_) {
      // Column 0 of the image is an even one of the padded image, or an odd one.
      float* first = to + above_ * row + before_ / 2 + (before_ % 2) * half_;
      float* second = to + above_ * row + (before_ + 1) / 2 + (1 - before_ % 2) * half_;
      for (int y = 0; y < image_height_; ++y, first += row, second += row) {
        int x = 0;
        for (; x + 2 * lanes <= image_width_; x += 2 * lanes, from += 2 * lanes) {
          const vector a = vector::load_unaligned(from), b = vector::load_unaligned(from + lanes);
          even_lanes(a, b).store_unaligned(first + x / 2);
          odd_lanes(a, b).store_unaligned(second + x / 2);
        }
        if (x == image_width_) continue;
        alignas(64) float rest[2 * lanes] = {};
        for (int j = 0; x + j < image_width_; ++j) rest[j] = *from++;
        const vector a = vector::load_aligned(rest), b = vector::load_aligned(rest + lanes);
        even_lanes(a, b).store_unaligned(first + x / 2);
        odd_lanes(a, b).store_unaligned(second + x / 2);
      }
    }
  }

  /// Filters as `multiply` reads them: place by place, then as pack_filters() packs them.
  void pack(const float* filter, std::ptrdiff_t stride, float* to) const {
    alignas(64) float from[9][lanes] = {};
    alignas(64) float made[16][lanes];
    const std::ptrdiff_t place = filter_step();
    for (int t = 0; t < filter_tiles_.count(); ++t) {
      const int first = filter_tiles_.first(t), rows = filter_tiles_.size(t);
      for (int i = 0; i < rows; ++i) {
        const float* of = filter + (first + i) * stride;
        float* line = to + static_cast<std::ptrdiff_t>(first) * channels_ + i;
        for (int c = 0; c < channels_; c += lanes) {
          const int count = channels_ - c < lanes ? channels_ - c : lanes;
          for (int l = 0; l < count; ++l)
            for (int k = 0; k < 9; ++k) from[k][l] = *of++;
          detail::transform_filters(from, made);
          for (int l = 0; l < count; ++l, line += rows)
            for (int k = 0; k < 16; ++k) line[k * place] = made[k][l];
        }
      }
    }
  }

  LAMINA_NOINLINE void transform_image(const float* image, int row, int rows, float* to) const {
    const std::ptrdiff_t pitch = tiles_ + 1;
    for (int c = 0; c < channels_; ++c)
      for (int r = 0; r < rows; ++r) {
        const float* const from =
            image + static_cast<std::ptrdiff_t>(c) * 2 * half_ + 2 * (row + r) * pitch;
        float* const line = to + static_cast<std::ptrdiff_t>(c) * pitch_ + r * tiles_;
        // The last vector of a row may end in the next one, which is written later.
        for (int t = 0; t < tiles_; t += lanes)
          detail::transform_tiles(from + t, half_, pitch, line + t, step(channels_));
      }
  }

  void multiply(const places& p, int rows) const {
    static constexpr int offsets[] = {0,         lanes,     2 * lanes, 3 * lanes,
                                      4 * lanes, 5 * lanes, 6 * lanes, 7 * lanes};
    const int vectors = (rows * tiles_ + lanes - 1) / lanes;
    const int together = detail::vectors_of_tile(filters_);
    const float* at[detail::lone_vectors];
    for (int k = 0; k < detail::winograd_places; ++k) {
      const float* const seen = p.seen + k * step(channels_);
      float* const sums = p.sums + k * step(filters_);
      for (int t = 0; t < filter_tiles_.count(); ++t) {
        const int first = filter_tiles_.first(t);
        const float* const filters =
            p.filters + k * filter_step() + static_cast<std::ptrdiff_t>(first) * channels_;
        for (int v = 0; v < vectors; v += together) {
          const int count = vectors - v < together ? vectors - v : together;
          for (int j = 0; j < count; ++j) at[j] = seen + (v + j) * lanes;
          detail::find_correlation_kernel<false>(filter_tiles_.size(t), count)(
              {channels_, filters, p.taps, at, nullptr,
               sums + static_cast<std::ptrdiff_t>(first) * pitch_ + v * lanes, pitch_, offsets,
               nullptr});
        }
      }
    }
  }

  LAMINA_NOINLINE void transform_back(const float* sums, const float* bias, int row, int rows,
                                      float* to) const {
    const std::ptrdiff_t between = step(filters_);
    for (int k = 0; k < filters_; ++k) {
      const vector more(bias == nullptr ? 0.F : bias[k]);
      float* const image = to + static_cast<std::ptrdiff_t>(k) * height_ * width_;
      for (int r = 0; r < rows; ++r) {
        const float* const line = sums + static_cast<std::ptrdiff_t>(k) * pitch_ + r * tiles_;
        const int y = 2 * (row + r);
        for (int t = 0; t < tiles_; t += lanes) {
          vector above[4], below[4];
          LAMINA_UNROLL for (int x = 0; x < 4; ++x) {
            const float* const at = line + t + x * between;
            const vector a = vector::load_unaligned(at + 4 * between),
                         b = vector::load_unaligned(at + 8 * between);
            above[x] = vector::load_unaligned(at) + a + b;
            below[x] = a - b - vector::load_unaligned(at + 12 * between);
          }
          float* const out = image + static_cast<std::ptrdiff_t>(y) * width_ + 2 * t;
          const int count = width_ - 2 * t;
          detail::store_in_turn(above[0] + above[1] + above[2] + more,
                                above[1] - above[2] - above[3] + more, count, out);
          if (y + 1 < height_)
            detail::store_in_turn(below[0] + below[1] + below[2] + more,
                                  below[1] - below[2] - below[3] + more, count, out + width_);
        }
      }
    }
  }

  int channels_, filters_, height_, width_;
  int tile_rows_, tiles_;  // rows of tiles, tiles in a row
  even_parts filter_tiles_;
  int image_height_, image_width_, above_, before_;
  std::ptrdiff_t half_;   // floats of the even columns of a channel
  int together_, pitch_;  // rows of tiles at a time, floats of a line of them
};

}  // namespace lamina::engine::cpu
