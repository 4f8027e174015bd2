// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/conv/conv_forward.hpp - the forward pass of a convolution: the products of the
// windows of an image with filters.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/cpu/conv/conv_methods.hpp>
#include <lamina/engine/cpu/conv/correlate.hpp>
#include <lamina/engine/cpu/conv/image_rows.hpp>
#include <lamina/engine/cpu/conv/spread_image.hpp>
#include <lamina/engine/cpu/memory/scratch_arena.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// small[n][o] = bias[o] + the products of the windows of large[n] with filter o.
class conv_forward {
 public:
  /// If `methods` is null, run() uses the general algorithm.
  LAMINA_API explicit conv_forward(const conv_shape& s, const conv_methods* methods = nullptr);

  LAMINA_LAZY LAMINA_API std::ptrdiff_t scratch(int samples) const;

  LAMINA_LAZY LAMINA_API void run(int samples, const image_rows& large, const float* filter,
                                  std::ptrdiff_t filter_stride, const float* bias,
                                  const image_rows& smaller, float* scratch,
                                  const image_epilogue& done = {},
                                  filter_memory* kept = nullptr) const;

  /// The padded copy of the larger image that the filters read. The gradient of the filters reads
  /// the same copy.
  const spread_image& seen() const { return seen_; }
  LAMINA_LAZY LAMINA_API void fill_taps(int* taps) const;
  /// Stores the offset, in the padded copy, of each row of windows; returns the number of rows.
  LAMINA_LAZY LAMINA_API int fill_rows(int* rows) const;

  /// The offset, in the padded copy, of the last row of windows.
  int last_row() const {
    return ((shape_.side[0].smaller - 1) * seen_.side[1].span + shape_.side[1].smaller - 1) *
           seen_.side[2].span;
  }
  /// Whether all windows are one element apart, so that they can be treated as a single row.
  bool is_dense() const {
    return last_row() ==
           (shape_.side[0].smaller * shape_.side[1].smaller - 1) * shape_.side[2].smaller;
  }

 private:
  /// Whether run() uses the special algorithm; `infers` says that it is given a filter_memory.
  bool uses_method(bool infers) const {
    const conv_kind kind = kind_of(shape_);
    return method_ != nullptr &&
           (!infers || kind == conv_kind::depthwise || kind == conv_kind::pointwise ||
            winograd::pays_at_inference(shape_));
  }

  struct addresses {
    float *image, *filters, *work;
    int *taps, *rows;
  };
  LAMINA_LAZY LAMINA_API addresses lay_out(scratch_arena& arena) const;

  conv_shape shape_;
  const image_method* method_;
  spread_image seen_;
};

#if LAMINA_DEFINES

conv_forward::conv_forward(const conv_shape& s, const conv_methods* methods)
    : shape_(s), method_(methods == nullptr ? nullptr : find_conv_method(methods->forward, s)) {
  seen_.channels = s.large_channels;
  for (int d = 0; d < 3; ++d) {
    const conv_side& a = s.side[d];
    seen_.side[d] = {a.large, a.stride, a.padding,
                     a.smaller + (a.filter - 1) * a.dilation / a.stride, 0};
    for (int t = 0; t < a.filter; ++t) seen_.side[d].meet(t * a.dilation);
  }
}

LAMINA_LAZY_BODY std::ptrdiff_t conv_forward::scratch(int samples) const {
  const std::ptrdiff_t special = method_ == nullptr ? 0 : method_->scratch(shape_, samples);
  if (uses_method(true)) return special;
  scratch_arena arena;
  (void)lay_out(arena);
  return arena.used() < special ? special : arena.used();
}

LAMINA_LAZY_BODY void conv_forward::run(int samples, const image_rows& large, const float* filter,
                                        std::ptrdiff_t filter_stride, const float* bias,
                                        const image_rows& smaller, float* scratch,
                                        const image_epilogue& done, filter_memory* kept) const {
  if (uses_method(kept != nullptr))
    return method_->run(shape_, samples, large, filter, filter_stride, bias, smaller, scratch, done,
                        kept);
  scratch_arena arena(scratch);
  const addresses p = lay_out(arena);
  const conv_shape& s = shape_;
  const int taps = s.taps(), depth = s.large_channels * taps;
  fill_taps(p.taps);
  int width = s.side[2].smaller;
  int count = fill_rows(p.rows);
  if (is_dense()) {
    width *= count;
    count = 1;
  }
  const window_grid grid{count, width, p.rows, depth, p.taps, s.large_channels};
  const bool in_place = seen_.is_image() && correlation::reads_in_place(grid, s.small_channels);
  if (!in_place) seen_.clear(p.image);
  const std::ptrdiff_t group_floats = static_cast<std::ptrdiff_t>(s.small_channels) * depth;
  const bool unpacked = correlation::reads_unpacked(
      static_cast<std::ptrdiff_t>(samples) * grid.windows(), filter_stride);
  for (int g = 0; g < s.groups && !unpacked; ++g) {
    const float* const first = filter + g * s.small_channels * filter_stride;
    pack_filters(
        s.small_channels, depth, [=](int o, int k) { return first[o * filter_stride + k]; },
        p.filters + g * group_floats);
  }
  const correlation products(grid, s.small_channels, p.work);
  for (int n = 0; n < samples; ++n) {
    image_progress progress(done, n);
    for (int g = 0; g < s.groups; ++g) {
      const float* from = large.data + n * large.stride +
                          static_cast<std::ptrdiff_t>(g) * s.large_channels * s.large_size();
      if (!in_place) {
        seen_.copy(from, p.image);
        from = p.image;
      }
      const std::ptrdiff_t first =
          static_cast<std::ptrdiff_t>(g) * s.small_channels * s.small_size();
      products.run(
          unpacked ? filter + g * s.small_channels * filter_stride : p.filters + g * group_floats,
          unpacked ? filter_stride : 0, from,
          bias == nullptr ? nullptr : bias + g * s.small_channels,
          smaller.data + n * smaller.stride + first, s.small_size(), first, progress);
    }
    progress.finish();
  }
}

LAMINA_LAZY_BODY void conv_forward::fill_taps(int* taps) const {
  for (int c = 0; c < shape_.large_channels; ++c)
    for (int z = 0; z < shape_.side[0].filter; ++z)
      for (int y = 0; y < shape_.side[1].filter; ++y)
        for (int x = 0; x < shape_.side[2].filter; ++x) {
          const int position[] = {z * shape_.side[0].dilation, y * shape_.side[1].dilation,
                                  x * shape_.side[2].dilation};
          *taps++ = c * seen_.channel_size() + seen_.offset(position);
        }
}

LAMINA_LAZY_BODY int conv_forward::fill_rows(int* rows) const {
  int n = 0;
  for (int z = 0; z < shape_.side[0].smaller; ++z)
    for (int y = 0; y < shape_.side[1].smaller; ++y)
      rows[n++] = (z * seen_.side[1].span + y) * seen_.side[2].span;
  return n;
}

LAMINA_LAZY_BODY conv_forward::addresses conv_forward::lay_out(scratch_arena& arena) const {
  const int depth = shape_.large_channels * shape_.taps();
  addresses p;
  p.image = arena.take(seen_.floats());
  p.filters =
      arena.take(static_cast<std::ptrdiff_t>(shape_.groups) * shape_.small_channels * depth);
  p.taps = arena.take_integers(depth);
  p.rows = arena.take_integers(shape_.side[0].smaller * shape_.side[1].smaller);
  p.work = arena.take(correlation::scratch_floats(shape_.small_channels, depth,
                                                  shape_.large_channels, shape_.small_size()));
  return p;
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
