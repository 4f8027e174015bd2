// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/conv/conv_backward.hpp - computes the larger image of a convolution from the
// smaller image and the filters. This is the gradient of a convolution's input, or the forward pass
// of a transposed convolution.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/cpu/conv/conv_forward.hpp>
#include <lamina/engine/cpu/conv/grad_rows.hpp>
#include <lamina/engine/cpu/memory/scratch_arena.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// For each sample n, sets large[n] to the bias. Then, for every element of small[n], adds the
/// element times its filter to the window of large[n] that belongs to the element.
///
/// If both images are nearly equal in size, this is computed as a convolution of the smaller image
/// with the reversed filters. Otherwise, for each vector of adjacent windows and each tap of a
/// channel, the kernel sums the products over all filters in registers, and adds the sums to a
/// spread image (spread_image.hpp).
class conv_backward {
 public:
  /// If `methods` is null, run() uses the general algorithm.
  explicit conv_backward(const conv_shape& s, const conv_methods* methods = nullptr)
      : shape_(s),
        forward_(s),
        rows_(s, forward_),
        methods_(methods),
        gathers_(conv_methods::gathers(s)) {
    if (methods != nullptr && !gathers_) method_ = find_conv_method(methods->backward, s);
  }

  LAMINA_LAZY LAMINA_API std::ptrdiff_t scratch(int samples) const;

  LAMINA_LAZY LAMINA_API void run(int samples, const image_rows& smaller, const float* filter,
                                  std::ptrdiff_t filter_stride, const float* bias,
                                  const image_rows& large, float* scratch,
                                  const image_epilogue& done = {}) const;

 private:
  conv_forward turned_product() const {
    return conv_forward(conv_methods::turned(shape_), methods_);
  }
  std::ptrdiff_t turned_filter_floats() const {
    return static_cast<std::ptrdiff_t>(shape_.groups) * shape_.large_channels *
           shape_.small_channels * shape_.taps();
  }
  LAMINA_LAZY LAMINA_API void gather(int samples, const image_rows& smaller, const float* filter,
                                     std::ptrdiff_t filter_stride, const float* bias,
                                     const image_rows& large, float* scratch,
                                     const image_epilogue& done) const;

  struct addresses {
    float *image, *filters, *grad;
    int *taps, *rows, *where, *steps;
  };
  LAMINA_LAZY LAMINA_API addresses lay_out(scratch_arena& arena) const;

  LAMINA_LAZY LAMINA_API void spread(int samples, const image_rows& smaller, const float* filter,
                                     std::ptrdiff_t filter_stride, const float* bias,
                                     const image_rows& large, float* scratch,
                                     const image_epilogue& done) const;
  LAMINA_LAZY LAMINA_API void order_taps(int* positions) const;
  LAMINA_LAZY LAMINA_API void add_lines(const addresses& p, const float* filters, const float* grad,
                                        int lines) const;

  conv_shape shape_;
  conv_forward forward_;
  grad_rows rows_;
  const conv_methods* methods_;
  const image_method* method_ = nullptr;
  bool gathers_;
};

#if LAMINA_DEFINES

LAMINA_LAZY_BODY std::ptrdiff_t conv_backward::scratch(int samples) const {
  if (method_ != nullptr) return method_->scratch(shape_, samples);
  scratch_arena arena;
  if (gathers_)
    arena.take(turned_filter_floats()), arena.take(turned_product().scratch(samples));
  else
    (void)lay_out(arena);
  return arena.used();
}

LAMINA_LAZY_BODY void conv_backward::run(int samples, const image_rows& smaller,
                                         const float* filter, std::ptrdiff_t filter_stride,
                                         const float* bias, const image_rows& large, float* scratch,
                                         const image_epilogue& done) const {
  if (method_ != nullptr)
    return method_->run(shape_, samples, smaller, filter, filter_stride, bias, large, scratch, done,
                        nullptr);
  if (gathers_)
    gather(samples, smaller, filter, filter_stride, bias, large, scratch, done);
  else
    spread(samples, smaller, filter, filter_stride, bias, large, scratch, done);
}

LAMINA_LAZY_BODY void conv_backward::gather(int samples, const image_rows& smaller,
                                            const float* filter, std::ptrdiff_t filter_stride,
                                            const float* bias, const image_rows& large,
                                            float* scratch, const image_epilogue& done) const {
  scratch_arena arena(scratch);
  const int taps = shape_.taps();
  float* const turned = arena.take(turned_filter_floats());
  const std::ptrdiff_t depth = static_cast<std::ptrdiff_t>(shape_.small_channels) * taps;
  for (int g = 0; g < shape_.groups; ++g)
    for (int o = 0; o < shape_.small_channels; ++o) {
      const float* from = filter + (g * shape_.small_channels + o) * filter_stride;
      for (int c = 0; c < shape_.large_channels; ++c, from += taps) {
        float* const to = turned + (g * shape_.large_channels + c) * depth + o * taps;
        for (int t = 0; t < taps; ++t) to[t] = from[taps - 1 - t];
      }
    }
  const conv_forward product = turned_product();
  product.run(samples, smaller, turned, depth, bias, large, arena.take(product.scratch(samples)),
              done);
}

LAMINA_LAZY_BODY conv_backward::addresses conv_backward::lay_out(scratch_arena& arena) const {
  const conv_shape& s = shape_;
  const int depth = s.large_channels * s.taps();
  addresses p;
  p.image = arena.take(forward_.seen().floats());
  p.filters = arena.take(static_cast<std::ptrdiff_t>(s.groups) * s.small_channels * depth);
  p.grad = arena.take(rows_.floats());
  p.taps = arena.take_integers(depth);
  p.rows = arena.take_integers(rows_.row_count());
  p.where = arena.take_integers(rows_.vectors());
  p.steps = arena.take_integers(s.small_channels);
  return p;
}

LAMINA_LAZY_BODY void conv_backward::spread(int samples, const image_rows& smaller,
                                            const float* filter, std::ptrdiff_t filter_stride,
                                            const float* bias, const image_rows& large,
                                            float* scratch, const image_epilogue& done) const {
  scratch_arena arena(scratch);
  const addresses p = lay_out(arena);
  const conv_shape& s = shape_;
  const int channels = s.large_channels, taps = s.taps(), lines = channels * taps;
  // There is a line for each tap and channel. Lines are ordered by tap, then by channel, so that
  // the lines of one tile belong to the same tap of different channels. Their sums are then added
  // at addresses that are far apart and do not overlap.
  order_taps(p.taps);
  rows_.fill(p.rows, p.where);
  if (!rows_.whole()) rows_.clear(p.grad);
  const std::ptrdiff_t grad_row = rows_.whole() ? s.small_size() : rows_.vectors() * lanes;
  for (int o = 0; o < s.small_channels; ++o) p.steps[o] = static_cast<int>(o * grad_row);
  const std::ptrdiff_t group_floats = static_cast<std::ptrdiff_t>(s.small_channels) * lines;
  for (int g = 0; g < s.groups; ++g) {
    const float* const first = filter + g * s.small_channels * filter_stride;
    pack_filters(
        lines, s.small_channels,
        [=](int line, int o) {
          return first[o * filter_stride + line % channels * taps + line / channels];
        },
        p.filters + g * group_floats);
  }
  for (int n = 0; n < samples; ++n) {
    for (int g = 0; g < s.groups; ++g) {
      const float* from = smaller.data + n * smaller.stride +
                          static_cast<std::ptrdiff_t>(g) * s.small_channels * s.small_size();
      if (!rows_.whole()) {
        rows_.copy(from, p.rows, p.grad);
        from = p.grad;
      }
      forward_.seen().clear(p.image);
      add_lines(p, p.filters + g * group_floats, from, lines);
      float* const to = large.data + n * large.stride +
                        static_cast<std::ptrdiff_t>(g) * s.large_channels * s.large_size();
      forward_.seen().copy_back(p.image, bias == nullptr ? nullptr : bias + g * channels, to);
    }
    done(n);
  }
}

LAMINA_LAZY_BODY void conv_backward::order_taps(int* positions) const {
  const conv_shape& s = shape_;
  for (int z = 0; z < s.side[0].filter; ++z)
    for (int y = 0; y < s.side[1].filter; ++y)
      for (int x = 0; x < s.side[2].filter; ++x) {
        const int position[] = {z * s.side[0].dilation, y * s.side[1].dilation,
                                x * s.side[2].dilation};
        const int at = forward_.seen().offset(position);
        for (int c = 0; c < s.large_channels; ++c)
          *positions++ = c * forward_.seen().channel_size() + at;
      }
}

LAMINA_LAZY_BODY void conv_backward::add_lines(const addresses& p, const float* filters,
                                               const float* grad, int lines) const {
  const even_parts tiles(lines, tile_rows);
  const int together = detail::vectors_of_tile(lines);
  const float* at[detail::lone_vectors];
  detail::correlation_tile task{};
  task.depth = shape_.small_channels;
  task.taps = p.steps;
  task.at = at;
  task.to = p.image;
  for (int t = 0; t < tiles.count(); ++t) {
    task.filters = {filters + static_cast<std::ptrdiff_t>(tiles.first(t)) * shape_.small_channels,
                    1, tiles.size(t)};
    task.row_positions = p.taps + tiles.first(t);
    for (int v = 0; v < rows_.vectors(); v += together) {
      const int vectors = rows_.vectors() - v < together ? rows_.vectors() - v : together;
      for (int j = 0; j < vectors; ++j) at[j] = grad + (v + j) * lanes;
      task.positions = p.where + v;
      detail::correlate_rows(tiles.size(t), vectors, task);
    }
  }
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
