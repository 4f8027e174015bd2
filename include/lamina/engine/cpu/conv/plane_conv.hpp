// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/conv/plane_conv.hpp - the forward pass of a depthwise convolution. Each channel
// is a plane, which is filtered where its rows lie, several rows of results at a time.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <lamina/engine/cpu/conv/correlate.hpp>
#include <lamina/engine/cpu/conv/image_rows.hpp>
#include <lamina/engine/cpu/conv/spread_image.hpp>
#include <lamina/engine/cpu/memory/scratch_arena.hpp>
#include <lamina/engine/cpu/vector/lane_order.hpp>
#include <lamina/engine/cpu/vector/row_vectors.hpp>
#include <lamina/operators/conv/common.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

/// The rows of a plane that filter_rows() computes. Row y of the results begins at to + y * width
/// and reads the rows from image + y * stride * pitch on.
struct plane_rows {
  const float* image;
  int pitch;
  float* to;
  int width;
  const float* end;  // of the results; nothing after it may be written
};

/// The number of rows that are computed together. They share loads of the rows that several of them
/// read. Their sums, the taps, and the vectors that are loaded stay in registers.
constexpr int plane_rows_together(int size, int stride) { return size * stride > 6 ? 2 : 4; }

/// Stores the first n floats of a vector.
template <class V>
LAMINA_INLINE void store_first(V v, int n, float* to) {
  alignas(64) float all[lanes_of<V>];
  store(all, v);
  std::memcpy(to, all, static_cast<std::size_t>(n) * sizeof(float));
}

/// Filters `Rows` rows of a plane with a filter of Size by Size taps, at strides of `Stride`, 1 or
/// 2. If a row is shorter than a vector, its vector also overwrites begins of later rows, which are
/// stored later.
template <int Size, int Stride, int Rows, class V>
LAMINA_NOINLINE void filter_rows(const plane_rows& p, const float* filter, float initial) {
  constexpr int taps = Size * Size, count = lanes_of<V>;
  V tap[bound(taps)];
  LAMINA_UNROLL for (int i = 0; i < taps; ++i) tap[i] = V(filter[i]);
  for (int next = 0; next < p.width; next += count) {
    const int x = next + count <= p.width || p.width < count ? next : p.width - count;
    const float* from = p.image + Stride * x;
    V sum[bound(Rows)];
    LAMINA_UNROLL for (int i = 0; i < Rows; ++i) sum[i] = V(initial);
    LAMINA_UNROLL for (int r = 0; r < (Rows - 1) * Stride + Size; ++r) {
      const auto add = [&](int j, V v) __attribute__((always_inline)) {
        hold_in_register(v);
        LAMINA_UNROLL for (int i = 0; i < Rows; ++i) {
          if (const int y = r - i * Stride; y >= 0 && y < Size) {
            if constexpr (count == lanes)
              sum[i] = fused_multiply_add(v, tap[y * Size + j], sum[i]);
            else
              sum[i] = simd::fma(v, tap[y * Size + j], sum[i]);
          }
        }
      };
      LAMINA_UNROLL for (int j = 0; j < Size; j += Stride) {
        const V v = load(from + j, V());
        if constexpr (Stride == 1) {
          add(j, v);
        } else {
          const V w = load(from + j + count, V());
          add(j, even_lanes(v, w));
          if (j + 1 < Size) add(j + 1, odd_lanes(v, w));
        }
      }
      from += p.pitch;
    }
    float* to = p.to + x;
    LAMINA_UNROLL for (int i = 0; i < Rows; ++i, to += p.width) {
      if (p.width < count && p.end - to < count)
        store_first(sum[i], p.width, to);
      else
        store(to, sum[i]);
    }
  }
}

/// Copies the rows of a plane, each `width` floats, to rows that begin `pitch` floats apart. After
/// a row that is shorter than a vector, the copy sets some floats to 0; these belong to the
/// padding, or to the next row, which is copied afterwards.
LAMINA_NOINLINE inline void copy_plane(const float* from, int height, int width, float* to,
                                       int pitch) {
  for (int y = 0; y < height; ++y, from += width, to += pitch) {
    if (width >= lanes) {
      for (int next = 0; next < width; next += lanes) {
        const int x = next + lanes <= width ? next : width - lanes;
        vector::load_unaligned(from + x).store_unaligned(to + x);
      }
    } else if ((height - y) * width >= lanes) {  // a whole vector can be read
      first_lanes<float>(width, vector::load_unaligned(from), vector(0.F)).store_unaligned(to);
    } else {
      std::memcpy(to, from, static_cast<std::size_t>(width) * sizeof(float));
    }
  }
}

/// Filters a plane; the results have `height` rows.
template <int Size, int Stride>
LAMINA_INLINE void filter_plane(int height, plane_rows p, const float* filter, float initial) {
  constexpr int together = plane_rows_together(Size, Stride);
  constexpr bool has_half = lanes > 8;
  const plane_rows all = p;
  const auto at = [&](int y) {
    p.image = all.image + static_cast<std::ptrdiff_t>(y) * Stride * p.pitch;
    p.to = all.to + static_cast<std::ptrdiff_t>(y) * p.width;
  };
  if (height < together)
    for (int y = 0; y < height; ++y)
      at(y), filter_rows<Size, Stride, 1, vector>(p, filter, initial);
  else  // the last rows may be computed twice
    for (int y = 0; y < height; y += together) {
      at(y + together <= height ? y : height - together);
      if (has_half && p.width <= 8)
        filter_rows<Size, Stride, together, vector_of<has_half ? 8 : lanes>>(p, filter, initial);
      else
        filter_rows<Size, Stride, together, vector>(p, filter, initial);
    }
}

}  // namespace detail

/// A convolution for which depthwise::suits() is true.
class plane_conv {
 public:
  LAMINA_API LAMINA_NOINLINE explicit plane_conv(const conv_shape& s);

  LAMINA_LAZY LAMINA_API LAMINA_COLD std::ptrdiff_t scratch() const;

  /// small = bias + the products of the windows of large with the filters.
  LAMINA_LAZY LAMINA_API void forward(int samples, const image_rows& large, const float* filter,
                                      std::ptrdiff_t filter_stride, const float* bias,
                                      const image_rows& smaller, float* scratch,
                                      const image_epilogue& done) const;

 private:
  struct addresses {
    float *image, *sums;
    int* taps;
  };
  LAMINA_LAZY LAMINA_API addresses lay_out(scratch_arena& arena) const;
  /// The number of vectors that hold all rows of windows, with the gaps between them.
  int vectors() const {
    return ((shape_.side[1].smaller - 1) * seen_.side[2].span + shape_.side[2].smaller + lanes -
            1) /
           lanes;
  }
  /// Filters a plane of any stride and dilation.
  LAMINA_LAZY LAMINA_API LAMINA_NOINLINE void filter(const addresses& p, const float* filter,
                                                     float initial, float* to) const;
  /// Filters a plane whose padded copy has rows of `pitch_` floats.
  LAMINA_LAZY LAMINA_API LAMINA_NOINLINE void filter_padded(const detail::plane_rows& rows,
                                                            const float* filter,
                                                            float initial) const;

  conv_shape shape_;
  spread_image seen_;
  // The size of the padded copy of a plane that filter_padded() filters; 0 for other filters.
  int pitch_ = 0, height_ = 0;
};

#if LAMINA_DEFINES

plane_conv::plane_conv(const conv_shape& s) : shape_(s) {
  for (int d = 0; d < 3; ++d) {
    const conv_side& a = s.side[d];
    seen_.side[d] = {a.large, a.stride, a.padding,
                     a.smaller + (a.filter - 1) * a.dilation / a.stride, 0};
    for (int t = 0; t < a.filter; ++t) seen_.side[d].meet(t * a.dilation);
  }
  const conv_side &height = s.side[1], &width = s.side[2];
  if (height.filter != width.filter || (width.filter != 3 && width.filter != 5) ||
      height.stride != width.stride || width.stride > 2 || height.dilation != 1 ||
      width.dilation != 1)
    return;
  const auto seen = [](const conv_side& a) {
    return (std::max)(a.padding + a.large, (a.smaller - 1) * a.stride + a.filter);
  };
  pitch_ = seen(width);
  height_ = seen(height);
}

LAMINA_LAZY_BODY std::ptrdiff_t plane_conv::scratch() const {
  scratch_arena arena;
  (void)lay_out(arena);
  return arena.used();
}

LAMINA_LAZY_BODY plane_conv::addresses plane_conv::lay_out(scratch_arena& arena) const {
  addresses p{};
  if (pitch_ > 0) {
    // Vectors are loaded after the last element of a row, too.
    p.image = arena.take(static_cast<std::ptrdiff_t>(height_) * pitch_ + 4 * lanes);
    return p;
  }
  p.image = arena.take(seen_.floats());
  p.sums = arena.take(static_cast<std::ptrdiff_t>(vectors()) * lanes);
  p.taps = arena.take_integers(shape_.taps());
  return p;
}

LAMINA_LAZY_BODY void plane_conv::filter(const addresses& p, const float* filter, float initial,
                                         float* to) const {
  constexpr int most = detail::lone_vectors;
  const int all = vectors(), width = shape_.side[2].smaller;
  for (int first = 0; first < all; first += most) {
    const float* at[most];
    int positions[most];
    const int count = all - first < most ? all - first : most;
    for (int j = 0; j < count; ++j) {
      positions[j] = (first + j) * lanes;
      at[j] = p.image + positions[j];
    }
    detail::correlate_lone_filter(
        count,
        {shape_.taps(), {filter, 0, 1}, p.taps, at, &initial, p.sums, 0, positions, nullptr});
  }
  const float* from = p.sums;
  for (int y = 0; y < shape_.side[1].smaller; ++y, from += seen_.side[2].span, to += width)
    std::memcpy(to, from, static_cast<std::size_t>(width) * sizeof(float));
}

LAMINA_LAZY_BODY void plane_conv::filter_padded(const detail::plane_rows& rows, const float* filter,
                                                float initial) const {
  const int height = shape_.side[1].smaller;
  if (shape_.side[2].filter == 3) {
    if (shape_.side[2].stride == 1)
      detail::filter_plane<3, 1>(height, rows, filter, initial);
    else
      detail::filter_plane<3, 2>(height, rows, filter, initial);
  } else if (shape_.side[2].stride == 1) {
    detail::filter_plane<5, 1>(height, rows, filter, initial);
  } else {
    detail::filter_plane<5, 2>(height, rows, filter, initial);
  }
}

LAMINA_LAZY_BODY void plane_conv::forward(int samples, const image_rows& large, const float* filter,
                                          std::ptrdiff_t filter_stride, const float* bias,
                                          const image_rows& smaller, float* scratch,
                                          const image_epilogue& done) const {
  scratch_arena arena(scratch);
  const addresses p = lay_out(arena);
  const conv_side &height = shape_.side[1], &width = shape_.side[2];
  if (pitch_ > 0) {
    std::memset(p.image, 0,
                (static_cast<std::size_t>(height_) * static_cast<std::size_t>(pitch_) + 4 * lanes) *
                    sizeof(float));
  } else {
    seen_.clear(p.image);
    int* tap = p.taps;
    for (int y = 0; y < height.filter; ++y)
      for (int x = 0; x < width.filter; ++x)
        *tap++ = seen_.offset({0, y * height.dilation, x * width.dilation});
  }
  const int size = shape_.small_size();
  for (int n = 0; n < samples; ++n) {
    image_progress progress(done, n);
    const float* from = large.data + n * large.stride;
    float* to = smaller.data + n * smaller.stride;
    for (int c = 0, f = 0; c < shape_.groups; ++c, from += shape_.large_size()) {
      if (pitch_ > 0)
        detail::copy_plane(from, height.large, width.large,
                           p.image + height.padding * pitch_ + width.padding, pitch_);
      else
        seen_.copy(from, p.image);
      for (int m = 0; m < shape_.small_channels; ++m, ++f, to += size) {
        const float* const of = filter + f * filter_stride;
        const float initial = bias == nullptr ? 0.0F : bias[f];
        if (pitch_ > 0)
          filter_padded({p.image, pitch_, to, width.smaller, to + size}, of, initial);
        else
          this->filter(p, of, initial, to);
        progress.reach(static_cast<std::ptrdiff_t>(f + 1) * size);
      }
    }
    progress.finish();
  }
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
