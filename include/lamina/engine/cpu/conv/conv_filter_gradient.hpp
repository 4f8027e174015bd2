// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/conv/conv_filter_gradient.hpp - the gradient of a convolution's filters.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <utility>

#include <lamina/engine/cpu/conv/grad_rows.hpp>
#include <lamina/engine/cpu/memory/scratch_arena.hpp>
#include <lamina/engine/cpu/vector/lane_sums.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

/// The size of a register tile of sums: `gradient_rows` filters by `gradient_taps` taps. These
/// sums, one vector per filter and one vector of a tap fill the registers.
inline constexpr int gradient_rows = vector_registers == 32 ? 4 : 3;
inline constexpr int gradient_taps = vector_registers == 32 ? 6 : 4;

/// The arguments for one tile of filters by taps. The tile's sums are over `samples` samples.
struct gradient_tile {
  int samples, vectors;  // `vectors`: vectors of windows per sample
  const float* grad;     // the gradient at the tile's first filter
  std::ptrdiff_t grad_row, grad_sample;
  const float* image;
  std::ptrdiff_t image_sample;
  const int* at;    // offset in the image at which each vector of windows begins
  const int* taps;  // offsets of this tile's taps
  float* to;        // the sums are added here
  std::ptrdiff_t stride;
};

template <int Rows, int Taps>
LAMINA_NOINLINE void add_filter_gradient(const gradient_tile& t) {
  vector acc[bound(Rows)][bound(Taps)];
  LAMINA_UNROLL for (int i = 0; i < Rows; ++i) {
    LAMINA_UNROLL for (int j = 0; j < Taps; ++j) acc[i][j] = vector(0.F);
  }
  for (int n = 0; n < t.samples; ++n) {
    const float* image[bound(Taps)];
    LAMINA_UNROLL for (int j = 0; j < Taps; ++j) {
      image[j] = t.image + n * t.image_sample + t.taps[j];
    }
    const float* grad = t.grad + n * t.grad_sample;
    for (int v = 0; v < t.vectors; ++v, grad += lanes) {
      const std::ptrdiff_t at = t.at[v];
      vector d[bound(Rows)];
      LAMINA_UNROLL for (int i = 0; i < Rows; ++i) {
        d[i] = vector::load_unaligned(grad + i * t.grad_row);
        hold_in_register(d[i]);
      }
      LAMINA_UNROLL for (int j = 0; j < Taps; ++j) {
        vector x = vector::load_unaligned(image[j] + at);
        hold_in_register(x);
        LAMINA_UNROLL for (int i = 0; i < Rows; ++i) {
          acc[i][j] = fused_multiply_add(d[i], x, acc[i][j]);
        }
      }
    }
  }
  // Adds the lanes of each accumulator, `lanes` accumulators at a time.
  constexpr int sums = (Rows * Taps + lanes - 1) / lanes * lanes;
  vector all[bound(sums)];
  LAMINA_UNROLL for (int i = 0; i < sums; ++i) {
    all[i] = i < Rows * Taps ? acc[i / Taps % Rows][i % Taps] : vector(0.F);
  }
  alignas(64) float sum[bound(sums)];
  LAMINA_UNROLL for (int i = 0; i < sums; i += lanes) { lane_sums(all + i, sum + i); }
  LAMINA_UNROLL for (int i = 0; i < Rows; ++i) {
    LAMINA_UNROLL for (int j = 0; j < Taps; ++j) t.to[i * t.stride + j] += sum[i * Taps + j];
  }
}

using filter_gradient_kernel = void (*)(const gradient_tile&);
template <int Rows, class Taps>
struct filter_gradient_row;
template <int Rows, int... T>
struct filter_gradient_row<Rows, std::integer_sequence<int, T...>> {
  static constexpr filter_gradient_kernel table[] = {&add_filter_gradient<Rows, T + 1>...};
};
template <class Rows>
struct filter_gradient_table;
template <int... R>
struct filter_gradient_table<std::integer_sequence<int, R...>> {
  static filter_gradient_kernel find(int rows, int taps) {
    static constexpr const filter_gradient_kernel* of[] = {
        filter_gradient_row<R + 1, std::make_integer_sequence<int, gradient_taps>>::table...};
    return of[rows - 1][taps - 1];
  }
};

}  // namespace detail

/// filter gradient[o][c][tap] = the sum over samples and windows of the gradient of the smaller
/// image times the element of the larger image under the tap. Each sum is accumulated in a vector
/// whose lanes belong to adjacent windows.
class conv_filter_gradient {
 public:
  /// If `methods` is null, run() uses the general algorithm.
  explicit conv_filter_gradient(const conv_shape& s, const conv_methods* methods = nullptr)
      : shape_(s),
        forward_(s),
        rows_(s, forward_),
        method_(methods == nullptr ? nullptr : find_conv_method(methods->filter_gradient, s)) {}

  LAMINA_LAZY LAMINA_API std::ptrdiff_t scratch(int samples) const;

  /// Adds the gradient to `filter`, so the caller must have set `filter` to zeros.
  LAMINA_LAZY LAMINA_API void run(int samples, const image_rows& large, const image_rows& grad,
                                  float* filter, std::ptrdiff_t filter_stride,
                                  float* scratch) const;

 private:
  using table =
      detail::filter_gradient_table<std::make_integer_sequence<int, detail::gradient_rows>>;

  struct addresses {
    float *image, *grad;
    int *taps, *rows, *at;
  };
  LAMINA_LAZY LAMINA_API addresses lay_out(scratch_arena& arena, int samples) const;
  /// The number of samples over which a tile sums before it stores its sums. More samples mean less
  /// overhead for storing, as long as the data that a tile reads stay in the first-level cache.
  LAMINA_LAZY LAMINA_API int samples_together(int samples) const;
  LAMINA_LAZY LAMINA_API void add_tiles(detail::gradient_tile& t, const float* grad,
                                        const int* taps, float* filter) const;

  conv_shape shape_;
  conv_forward forward_;
  grad_rows rows_;
  const filter_method* method_;
};

#if LAMINA_DEFINES

LAMINA_LAZY_BODY std::ptrdiff_t conv_filter_gradient::scratch(int samples) const {
  if (method_ != nullptr) return method_->scratch(shape_, samples);
  scratch_arena arena;
  (void)lay_out(arena, samples);
  return arena.used();
}

LAMINA_LAZY_BODY void conv_filter_gradient::run(int samples, const image_rows& large,
                                                const image_rows& grad, float* filter,
                                                std::ptrdiff_t filter_stride,
                                                float* scratch) const {
  if (method_ != nullptr)
    return method_->run(shape_, samples, large, grad, filter, filter_stride, scratch);
  scratch_arena arena(scratch);
  const addresses p = lay_out(arena, samples);
  const conv_shape& s = shape_;
  const spread_image& seen = forward_.seen();
  forward_.fill_taps(p.taps);
  rows_.fill(p.rows, p.at);
  const bool whole = rows_.whole(), in_place = seen.is_image() && whole;
  const int together = samples_together(samples);
  const std::ptrdiff_t image_floats = seen.floats(), grad_floats = rows_.floats();
  for (int n = 0; n < together; ++n) {
    if (!in_place) seen.clear(p.image + n * image_floats);
    if (!whole) rows_.clear(p.grad + n * grad_floats);
  }
  for (int first = 0; first < samples; first += together) {
    const int block = samples - first < together ? samples - first : together;
    for (int g = 0; g < s.groups; ++g) {
      const float* image = large.data + first * large.stride +
                           static_cast<std::ptrdiff_t>(g) * s.large_channels * s.large_size();
      const float* d = grad.data + first * grad.stride +
                       static_cast<std::ptrdiff_t>(g) * s.small_channels * s.small_size();
      detail::gradient_tile t{};
      t.samples = block;
      t.vectors = rows_.vectors();
      t.at = p.at;
      t.stride = filter_stride;
      t.image_sample = in_place ? large.stride : image_floats;
      t.grad_sample = whole ? grad.stride : grad_floats;
      t.grad_row = whole ? s.small_size() : rows_.vectors() * lanes;
      for (int n = 0; n < block; ++n) {
        if (!in_place) seen.copy(image + n * large.stride, p.image + n * image_floats);
        if (!whole) rows_.copy(d + n * grad.stride, p.rows, p.grad + n * grad_floats);
      }
      t.image = in_place ? image : p.image;
      add_tiles(t, whole ? d : p.grad, p.taps, filter + g * s.small_channels * filter_stride);
    }
  }
}

LAMINA_LAZY_BODY conv_filter_gradient::addresses conv_filter_gradient::lay_out(scratch_arena& arena,
                                                                               int samples) const {
  const std::ptrdiff_t together = samples_together(samples);
  addresses p;
  p.image = arena.take(together * forward_.seen().floats());
  p.grad = arena.take(together * rows_.floats());
  p.taps = arena.take_integers(static_cast<std::ptrdiff_t>(shape_.large_channels) * shape_.taps());
  p.rows = arena.take_integers(rows_.row_count());
  p.at = arena.take_integers(rows_.vectors());
  return p;
}

LAMINA_LAZY_BODY int conv_filter_gradient::samples_together(int samples) const {
  const std::ptrdiff_t read =
      static_cast<std::ptrdiff_t>(detail::gradient_rows) * rows_.vectors() * lanes +
      2 * forward_.seen().channel_size();
  const std::ptrdiff_t n = resident_floats / 6 / read;
  return n < 1 || samples < 1 ? 1 : n < samples ? static_cast<int>(n) : samples;
}

LAMINA_LAZY_BODY void conv_filter_gradient::add_tiles(detail::gradient_tile& t, const float* grad,
                                                      const int* taps, float* filter) const {
  const even_parts rows(shape_.small_channels, detail::gradient_rows);
  const even_parts columns(shape_.large_channels * shape_.taps(), detail::gradient_taps);
  for (int r = 0; r < rows.count(); ++r)
    for (int k = 0; k < columns.count(); ++k) {
      t.grad = grad + rows.first(r) * t.grad_row;
      t.taps = taps + columns.first(k);
      t.to = filter + rows.first(r) * t.stride + columns.first(k);
      table::find(rows.size(r), columns.size(k))(t);
    }
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
