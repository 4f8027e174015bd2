// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/conv/winograd.hpp - Winograd convolutions. They compute 16 results of a 3 by 3
// filter with 36 multiplications in place of 144, and 16 results of a 5 by 5 filter with 64 in
// place of 400. The gradients need the same numbers of multiplications.
//
// A tile of 4 by 4 results is A^T [(G g G^T) * (B^T d B)] A. Here g is the filter, and d is the 6
// by 6 or 8 by 8 part of the image under the tile (winograd_transforms.hpp). The element by element
// products, summed over channels, are 36 or 64 matrix products: (tiles by channels) times (channels
// by filters). Gradients use the transposes of these linear maps. In scratch memory the channels
// are adjacent, so that a vector holds one element of several channels, and one function call
// transforms all of them.
//
// The rounding error relative to the largest result is below 2e-6 for 3 by 3 filters (six points
// per side), which is a few times the error of a direct sum. It is below 1e-5 for 5 by 5 filters
// (eight points per side), ten times the error of a direct sum.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <lamina/engine/cpu/conv/filter_memory.hpp>
#include <lamina/engine/cpu/conv/image_rows.hpp>
#include <lamina/engine/cpu/conv/spread_image.hpp>
#include <lamina/engine/cpu/conv/winograd_products.hpp>
#include <lamina/engine/cpu/memory/scratch_arena.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// A convolution of images with a shape for which suits() is true, or one of its gradients.
class winograd {
 public:
  /// Whether the shape is supported, and the transforms cost less than the multiplications that
  /// they save.
  static constexpr bool suits(const conv_shape& s) {
    if (s.side[0].large != 1 || s.side[0].smaller != 1 || s.side[0].filter != 1) return false;
    const int filter = s.side[1].filter;
    if ((filter != 3 && filter != 5) || s.side[2].filter != filter) return false;
    for (int d = 1; d < 3; ++d) {
      const conv_side& a = s.side[d];
      if (a.stride != 1 || a.dilation != 1 || a.padding < 0 || a.padding >= filter ||
          a.smaller != a.large + 2 * a.padding - filter + 1 || a.smaller < 4)
        return false;
    }
    return s.groups == 1 && s.large_channels >= 12 && s.small_channels >= 12;
  }

  /// Whether inference with a shape that suits() is faster by this algorithm than by the general
  /// one. If the transformed filters are too large for filter_memory, each run transforms the
  /// filters, and that takes as long as the products of a filter with about eight tiles. The answer
  /// does not depend on the number of samples, so that a sample has the same result in each batch.
  static constexpr bool pays_at_inference(const conv_shape& s) {
    const std::ptrdiff_t points = detail::winograd_points(s.side[1].filter);
    const std::ptrdiff_t filters = static_cast<std::ptrdiff_t>(s.large_channels) * s.small_channels;
    return tiles_along(s.side[1].smaller) * tiles_along(s.side[2].smaller) >= 8 ||
           filters * (points * points + s.taps()) <=
               static_cast<std::ptrdiff_t>(filter_memory::most_floats);
  }

  LAMINA_API LAMINA_NOINLINE winograd(const conv_shape& s, int samples);

  LAMINA_API LAMINA_COLD std::ptrdiff_t forward_scratch() const;
  LAMINA_API LAMINA_COLD std::ptrdiff_t backward_scratch() const;
  LAMINA_API LAMINA_COLD std::ptrdiff_t filter_gradient_scratch() const;

  /// The convolution: small = bias + the products of the windows of large with the filters.
  LAMINA_LAZY LAMINA_API void forward(const detail::forward_transforms& by, const image_rows& large,
                                      const float* filter, std::ptrdiff_t filter_stride,
                                      const float* bias, const image_rows& smaller, float* scratch,
                                      const image_epilogue& done, filter_memory* kept) const;

  /// The gradient of the input: adds each element of `smaller` times its filter to the window of
  /// `large` that belongs to the element, then adds the bias.
  LAMINA_LAZY LAMINA_API void backward(const detail::backward_transforms& by,
                                       const image_rows& smaller, const float* filter,
                                       std::ptrdiff_t filter_stride, const float* bias,
                                       const image_rows& large, float* scratch,
                                       const image_epilogue& done) const;

  /// The gradient of the filters. Each tap is the sum, over samples and windows, of the gradient of
  /// the smaller image times the element of the larger image under the tap.
  LAMINA_LAZY LAMINA_API void filter_gradient(const detail::filter_gradient_transforms& by,
                                              const image_rows& large, const image_rows& grad,
                                              float* filter, std::ptrdiff_t filter_stride,
                                              float* scratch) const;

 private:
  using panel_vector = detail::winograd_panel_vector;
  static constexpr int step = detail::winograd_step;
  static constexpr int tiles_along(int results) {
    return (results + detail::winograd_step - 1) / detail::winograd_step;
  }
  int square_points() const { return points_ * points_; }
  static constexpr int whole(int n) { return detail::whole_lanes(n); }
  static constexpr int blocks(int n) { return whole(n) / lanes; }
  static constexpr int rest(int n, int first) { return n - first < lanes ? n - first : lanes; }
  struct addresses {
    float *filters, *left, *sums, *lines, *grads;
  };
  /// The transformed filters of a product with `columns` columns and `depth` rows, and memory to
  /// transform one vector of filters.
  detail::winograd_filters filters_of(const addresses& p, int columns, int depth) const {
    return {p.filters, filter_point_stride(columns, depth),
            columns,   depth,
            filter_,   p.lines + line_floats()};
  }
  /// If there is memory that keeps transformed filters between runs, sets p.filters to it. Returns
  /// whether this memory already holds the transform of these filters.
  LAMINA_API LAMINA_NOINLINE bool finds_filters(filter_memory* kept, const float* filter,
                                                std::ptrdiff_t filter_stride, addresses& p) const;
  /// Divides the scratch memory into four arrays: the transformed filters, the transformed tiles of
  /// a chunk, the products of these tiles, which have `columns` columns, and lines of images in
  /// which channels are adjacent.
  LAMINA_API LAMINA_NOINLINE addresses lay_out(scratch_arena& arena, int filter_floats,
                                               int columns) const;
  /// The distance in floats between the matrices of two consecutive points. It is not a multiple of
  /// the size of a cache way; otherwise the matrices would evict each other.
  std::ptrdiff_t left_point_stride(int columns) const {
    const int rows = most_ * tiles_;
    return static_cast<std::ptrdiff_t>((std::max)(rows, detail::least_tile_rows)) * whole(columns) +
           alignment_floats;
  }
  std::ptrdiff_t sums_point_stride(int columns) const { return left_point_stride(columns); }
  static std::ptrdiff_t filter_point_stride(int columns, int depth) {
    return static_cast<std::ptrdiff_t>(whole(columns)) * depth + alignment_floats;
  }
  /// The number of columns of an image line: all columns that a row of tiles covers.
  int line() const { return tiles_ * step + filter_ - 1; }
  /// The size in floats of the lines of one larger image that the tiles of a chunk cover.
  std::ptrdiff_t line_floats() const {
    const int rows = most_ < tile_rows_ ? most_ : tile_rows_;
    return static_cast<std::ptrdiff_t>(rows * step + filter_ - 1) * line() * lanes;
  }
  std::ptrdiff_t sum_floats() const {
    return static_cast<std::ptrdiff_t>(tile_rows_ * step + filter_ - 1) * line() * lanes;
  }
  /// The size in floats of the lines of one smaller image that the tiles of a chunk cover.
  std::ptrdiff_t grad_floats() const {
    const int rows = most_ < tile_rows_ ? most_ : tile_rows_;
    return static_cast<std::ptrdiff_t>(rows * step) * tiles_ * step * lanes;
  }
  /// Sets the image lines to zeros. Once per call is enough, because nothing writes to the padding
  /// around images later.
  void clear_lines(const addresses& p) const {
    std::memset(p.lines, 0, sizeof(float) * static_cast<std::size_t>(line_floats()));
    std::memset(p.grads, 0, sizeof(float) * static_cast<std::size_t>(grad_floats()));
  }

  /// A chunk consists of `rows` rows of tiles, which may belong to several images. For each of
  /// these images, calls f(sample, first row of tiles in the image, number of rows of tiles, number
  /// of earlier tiles of the chunk).
  template <class F>
  LAMINA_INLINE void for_each_image(int first, int rows, F f) const {
    for (int done = 0; done < rows;) {
      const int n = (first + done) / tile_rows_, row = (first + done) % tile_rows_;
      const int count = tile_rows_ - row < rows - done ? tile_rows_ - row : rows - done;
      f(n, row, count, done * tiles_);
      done += count;
    }
  }
  /// Copies `rows` image rows from row `top` on, for one vector of channels, to lines of `pitch`
  /// columns; each row is stored from column `left` on. Rows outside of the image become zeros.
  LAMINA_API LAMINA_NOINLINE void fill_lines(const float* image, const int (&size)[2], int channels,
                                             int top, int rows, int left, int pitch,
                                             float* lines) const;

  /// Copies lines, in which the channels of a vector are adjacent, to `rows` rows of `columns`
  /// elements of an image.
  LAMINA_API static void write_lines(const float* lines, int pitch, int channels, int rows,
                                     int columns, float* image, std::ptrdiff_t channel);

  LAMINA_API LAMINA_NOINLINE void see_images(detail::square_transform run, const image_rows& large,
                                             int first, int rows, const addresses& p) const;

  /// The layout of the transformed gradients. If `depth` is 0, they are in rows that are `tile`
  /// floats apart; otherwise in panels of `depth` rows.
  struct grad_layout {
    std::ptrdiff_t tile, point_stride;
    int depth;
  };
  LAMINA_API LAMINA_NOINLINE void evaluate_grads(detail::square_transform run,
                                                 const image_rows& smaller, int first, int rows,
                                                 float* to, const addresses& p,
                                                 grad_layout at) const;

  LAMINA_LAZY LAMINA_API LAMINA_NOINLINE void make_images(detail::square_transform run, int first,
                                                          int rows, const addresses& p,
                                                          const float* bias,
                                                          const image_rows& smaller,
                                                          const image_epilogue& done) const;

  LAMINA_LAZY LAMINA_API LAMINA_NOINLINE void spread_images(detail::square_addition add, int first,
                                                            int rows, const addresses& p,
                                                            const float* bias, float* image,
                                                            const image_rows& large,
                                                            const image_epilogue& done) const;

  int channels_, filters_, filter_;
  int points_;  // interpolation points along a side
  int large_[2], small_[2], padding_[2];
  int tile_rows_, tiles_;  // rows of tiles, tiles in a row
  // Computes `together_` rows of tiles at a time; has memory for `most_` rows.
  int samples_, together_, most_;
};

#if LAMINA_DEFINES

std::ptrdiff_t winograd::forward_scratch() const {
  scratch_arena arena;
  (void)lay_out(arena, whole(filters_) * channels_, filters_);
  return arena.used();
}

std::ptrdiff_t winograd::backward_scratch() const {
  scratch_arena arena;
  (void)lay_out(arena, whole(channels_) * filters_, channels_);
  arena.take(static_cast<std::ptrdiff_t>(blocks(channels_)) * sum_floats());
  return arena.used();
}

std::ptrdiff_t winograd::filter_gradient_scratch() const {
  scratch_arena arena;
  (void)lay_out(arena, whole(filters_) * channels_, filters_);
  return arena.used();
}

winograd::winograd(const conv_shape& s, int samples)
    : channels_(s.large_channels),
      filters_(s.small_channels),
      filter_(s.side[1].filter),
      points_(detail::winograd_points(filter_)),
      large_{s.side[1].large, s.side[2].large},
      small_{s.side[1].smaller, s.side[2].smaller},
      padding_{s.side[1].padding, s.side[2].padding},
      tile_rows_((small_[0] + step - 1) / step),
      tiles_((small_[1] + step - 1) / step),
      samples_(samples) {
  // The number of rows of tiles that are computed together. So few that they stay in the cache, but
  // at least enough for 32 tiles, because each time all filters are read.
  const int floats = square_points() * (whole(channels_) + whole(filters_)) * tiles_;
  const int fitting = 2 * resident_floats / floats, enough = (32 + tiles_ - 1) / tiles_;
  const int wanted = fitting > enough ? fitting : enough;
  const std::ptrdiff_t all = static_cast<std::ptrdiff_t>(samples) * tile_rows_;
  const std::ptrdiff_t chunks = all > wanted ? (all + wanted - 1) / wanted : 1;
  together_ = static_cast<int>((all + chunks - 1) / chunks);
  if (together_ < 1) together_ = 1;
  // The size of the memory depends only on `most_`, which does not grow if there are fewer samples.
  most_ = all < 1 ? 1 : all < wanted ? static_cast<int>(all) : wanted;
}

LAMINA_LAZY_BODY void winograd::forward(const detail::forward_transforms& by,
                                        const image_rows& large, const float* filter,
                                        std::ptrdiff_t filter_stride, const float* bias,
                                        const image_rows& smaller, float* scratch,
                                        const image_epilogue& done, filter_memory* kept) const {
  scratch_arena arena(scratch);
  addresses p = lay_out(arena, whole(filters_) * channels_, filters_);
  const std::ptrdiff_t taps = static_cast<std::ptrdiff_t>(filter_) * filter_;
  if (!finds_filters(kept, filter, filter_stride, p))
    filters_of(p, filters_, channels_).pack(by.filters, filter, filter_stride, taps);
  clear_lines(p);
  const int count = samples_ * tile_rows_;
  for (int first = 0; first < count; first += together_) {
    const int rows = count - first < together_ ? count - first : together_;
    see_images(by.image, large, first, rows, p);
    detail::winograd_multiply({square_points(), rows * tiles_, channels_, filters_, false},
                              {p.left, whole(channels_), 1}, left_point_stride(channels_),
                              p.filters, filter_point_stride(filters_, channels_), p.sums,
                              sums_point_stride(filters_));
    make_images(by.result, first, rows, p, bias, smaller, done);
  }
}

LAMINA_LAZY_BODY void winograd::backward(const detail::backward_transforms& by,
                                         const image_rows& smaller, const float* filter,
                                         std::ptrdiff_t filter_stride, const float* bias,
                                         const image_rows& large, float* scratch,
                                         const image_epilogue& done) const {
  scratch_arena arena(scratch);
  const addresses p = lay_out(arena, whole(channels_) * filters_, channels_);
  float* const image = arena.take(static_cast<std::ptrdiff_t>(blocks(channels_)) * sum_floats());
  const std::ptrdiff_t taps = static_cast<std::ptrdiff_t>(filter_) * filter_;
  filters_of(p, channels_, filters_).pack(by.filters, filter, taps, filter_stride);
  clear_lines(p);
  const int count = samples_ * tile_rows_;
  for (int first = 0; first < count; first += together_) {
    const int rows = count - first < together_ ? count - first : together_;
    evaluate_grads(by.grad, smaller, first, rows, p.left, p,
                   {whole(filters_), left_point_stride(filters_), 0});
    detail::winograd_multiply({square_points(), rows * tiles_, filters_, channels_, false},
                              {p.left, whole(filters_), 1}, left_point_stride(filters_), p.filters,
                              filter_point_stride(channels_, filters_), p.sums,
                              sums_point_stride(channels_));
    spread_images(by.result, first, rows, p, bias, image, large, done);
  }
}

LAMINA_LAZY_BODY void winograd::filter_gradient(const detail::filter_gradient_transforms& by,
                                                const image_rows& large, const image_rows& grad,
                                                float* filter, std::ptrdiff_t filter_stride,
                                                float* scratch) const {
  scratch_arena arena(scratch);
  const addresses p = lay_out(arena, whole(filters_) * channels_, filters_);
  clear_lines(p);
  const int count = samples_ * tile_rows_;
  for (int first = 0; first < count || first == 0; first += together_) {
    const int rows = count - first < together_ ? count - first : together_;
    see_images(by.image, large, first, rows, p);
    evaluate_grads(by.grad, grad, first, rows, p.sums, p,
                   {0, sums_point_stride(filters_), rows * tiles_});
    detail::winograd_multiply({square_points(), channels_, rows * tiles_, filters_, first > 0},
                              {p.left, 1, whole(channels_)}, left_point_stride(channels_), p.sums,
                              sums_point_stride(filters_), p.filters,
                              filter_point_stride(filters_, channels_));
  }
  const std::ptrdiff_t taps = static_cast<std::ptrdiff_t>(filter_) * filter_;
  filters_of(p, filters_, channels_).unpack(by.filters, filter, filter_stride, taps);
}

bool winograd::finds_filters(filter_memory* kept, const float* filter, std::ptrdiff_t filter_stride,
                             addresses& p) const {
  if (kept == nullptr) return false;
  const filter_memory::entry found =
      kept->find(filter, (filters_ - 1) * filter_stride + channels_ * filter_ * filter_,
                 square_points() * filter_point_stride(filters_, channels_));
  if (found.made != nullptr) p.filters = found.made;
  return found.is_current;
}

winograd::addresses winograd::lay_out(scratch_arena& arena, int filter_floats, int columns) const {
  addresses p;
  p.filters =
      arena.take(square_points() * (static_cast<std::ptrdiff_t>(filter_floats) + alignment_floats));
  const int left = columns == filters_ ? channels_ : filters_;
  p.left = arena.take(square_points() * left_point_stride(left));
  p.sums = arena.take(square_points() * sums_point_stride(columns));
  const std::ptrdiff_t packed = static_cast<std::ptrdiff_t>(filter_ * filter_) * lanes;
  p.lines = arena.take(line_floats() + packed);
  p.grads = arena.take(grad_floats());
  return p;
}

void winograd::fill_lines(const float* image, const int (&size)[2], int channels, int top, int rows,
                          int left, int pitch, float* lines) const {
  const std::ptrdiff_t channel = static_cast<std::ptrdiff_t>(size[0]) * size[1];
  // If the lines have no padding, all rows are copied as one row.
  if (pitch == size[1] && top >= 0 && top + rows <= size[0])
    return gather_lanes(image + static_cast<std::ptrdiff_t>(top) * size[1], channel, channels,
                        rows * size[1], lines);
  for (int y = top; y < top + rows; ++y, lines += pitch * lanes) {
    float* const to = lines + left * lanes;
    if (y >= 0 && y < size[0])
      gather_lanes(image + static_cast<std::ptrdiff_t>(y) * size[1], channel, channels, size[1],
                   to);
    else
      std::memset(to, 0, sizeof(float) * static_cast<std::size_t>(size[1] * lanes));
  }
}

void winograd::write_lines(const float* lines, int pitch, int channels, int rows, int columns,
                           float* image, std::ptrdiff_t channel) {
  // If the lines have no padding, all rows are written as one row.
  if (pitch == columns) return scatter_lanes(lines, channels, rows * columns, image, channel);
  for (int y = 0; y < rows; ++y, lines += pitch * lanes, image += columns)
    scatter_lanes(lines, channels, columns, image, channel);
}

void winograd::see_images(detail::square_transform run, const image_rows& large, int first,
                          int rows, const addresses& p) const {
  const int pitch = line();
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(large_[0]) * large_[1];
  for_each_image(first, rows, [&](int n, int row, int count, int before) {
    for (int c = 0; c < channels_; c += lanes) {
      fill_lines(large.data + n * large.stride + c * size, large_, rest(channels_, c),
                 row * step - padding_[0], count * step + filter_ - 1, padding_[1], pitch, p.lines);
      const std::ptrdiff_t apart = whole(channels_);
      for (int r = 0; r < count; ++r)
        run({tiles_, step * lanes, apart},
            p.lines + static_cast<std::ptrdiff_t>(r) * step * pitch * lanes, {pitch * lanes, lanes},
            p.left + (before + r * tiles_) * apart + c,
            {points_ * left_point_stride(channels_), left_point_stride(channels_)}, nullptr);
    }
  });
}

void winograd::evaluate_grads(detail::square_transform run, const image_rows& smaller, int first,
                              int rows, float* to, const addresses& p, grad_layout at) const {
  const int pitch = tiles_ * step;
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(small_[0]) * small_[1];
  for_each_image(first, rows, [&](int n, int row, int count, int before) {
    for (int k = 0; k < filters_; k += lanes) {
      fill_lines(smaller.data + n * smaller.stride + k * size, small_, rest(filters_, k),
                 row * step, count * step, 0, pitch, p.grads);
      const panel_vector v(filters_, at.depth, k);
      const std::ptrdiff_t apart = at.depth > 0 ? v.width : at.tile;
      for (int r = 0; r < count; ++r)
        run({tiles_, step * lanes, apart},
            p.grads + static_cast<std::ptrdiff_t>(r) * step * pitch * lanes, {pitch * lanes, lanes},
            to + (before + r * tiles_) * apart + (at.depth > 0 ? v.offset : k),
            {points_ * at.point_stride, at.point_stride}, nullptr);
    }
  });
}

LAMINA_LAZY_BODY void winograd::make_images(detail::square_transform run, int first, int rows,
                                            const addresses& p, const float* bias,
                                            const image_rows& smaller,
                                            const image_epilogue& done) const {
  const int pitch = tiles_ * step;
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(small_[0]) * small_[1];
  const std::ptrdiff_t point_stride = sums_point_stride(filters_);
  float* const lines = p.grads;
  for_each_image(first, rows, [&](int n, int row, int count, int before) {
    for (int k = 0; k < filters_; k += lanes) {
      alignas(64) float more[lanes] = {};
      const int some = rest(filters_, k);
      for (int i = 0; i < some && bias != nullptr; ++i) more[i] = bias[k + i];
      const panel_vector v(filters_, rows * tiles_, k);
      for (int r = 0; r < count; ++r) {
        run({tiles_, v.width, step * lanes},
            p.sums + v.offset + static_cast<std::ptrdiff_t>(before + r * tiles_) * v.width,
            {points_ * point_stride, point_stride}, lines, {pitch * lanes, lanes}, more);
        const int top = (row + r) * step;
        write_lines(lines, pitch, some, (std::min)(step, small_[0] - top), small_[1],
                    smaller.data + n * smaller.stride + k * size +
                        static_cast<std::ptrdiff_t>(top) * small_[1],
                    size);
      }
    }
    if (row + count == tile_rows_) done(n);
  });
}

LAMINA_LAZY_BODY void winograd::spread_images(detail::square_addition add, int first, int rows,
                                              const addresses& p, const float* bias, float* image,
                                              const image_rows& large,
                                              const image_epilogue& done) const {
  const int pitch = line();
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(large_[0]) * large_[1];
  const std::ptrdiff_t point_stride = sums_point_stride(channels_);
  for_each_image(first, rows, [&](int n, int row, int count, int before) {
    float* sums = image;
    for (int c = 0; c < channels_; c += lanes, sums += sum_floats()) {
      if (row == 0) {
        alignas(64) float more[lanes] = {};
        for (int i = 0; i < rest(channels_, c) && bias != nullptr; ++i) more[i] = bias[c + i];
        const vector start = vector::load_aligned(more);
        for (std::ptrdiff_t i = 0; i < sum_floats(); i += lanes) start.store_unaligned(sums + i);
      }
      const panel_vector v(channels_, rows * tiles_, c);
      for (int r = 0; r < count; ++r)
        add({tiles_, v.width, step * lanes},
            p.sums + v.offset + static_cast<std::ptrdiff_t>(before + r * tiles_) * v.width,
            {points_ * point_stride, point_stride},
            sums + static_cast<std::ptrdiff_t>(row + r) * step * pitch * lanes,
            {pitch * lanes, lanes});
      if (row + count < tile_rows_) continue;
      write_lines(sums + (padding_[0] * pitch + padding_[1]) * lanes, pitch, rest(channels_, c),
                  large_[0], large_[1], large.data + n * large.stride + c * size, size);
    }
    if (row + count == tile_rows_) done(n);
  });
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
