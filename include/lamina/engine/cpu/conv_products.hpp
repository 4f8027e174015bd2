// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/conv_products.hpp - the two products of a convolution with its filters: from
// the larger image to the smaller one, and back.
#pragma once

#include <cstddef>

#include <lamina/engine/cpu/conv_shape.hpp>
#include <lamina/engine/cpu/correlate.hpp>

namespace lamina::engine::cpu {

/// Images of a batch: `rows` of them, `stride` floats apart.
struct image_rows {
  float* data;
  std::ptrdiff_t stride;
};

/// Hands out parts of scratch memory, each aligned to 64 bytes; without memory it counts.
class scratch_parts {
 public:
  explicit scratch_parts(float* at = nullptr) : begin_(at), at_(0) {}
  float* floats(std::ptrdiff_t n) {
    float* const p = begin_ == nullptr ? nullptr : begin_ + at_;
    at_ += (n + alignment_floats - 1) / alignment_floats * alignment_floats;
    return p;
  }
  int* integers(std::ptrdiff_t n) { return reinterpret_cast<int*>(floats(n)); }
  std::ptrdiff_t used() const { return at_; }

 private:
  float* begin_;
  std::ptrdiff_t at_;
};

namespace detail {

/// Rows of a grid that follow each other without a gap become one.
inline int join_rows(int count, int& width, int* row) {
  for (int r = 1; r < count; ++r)
    if (row[r] != row[0] + r * width) return count;
  width *= count;
  return 1;
}

}  // namespace detail

/// small[n][o] = bias[o] + the products of the windows of large[n] with filter o.
class conv_forward {
 public:
  explicit conv_forward(const conv_shape& s) : shape_(s) {
    seen_.channels = s.large_channels;
    for (int d = 0; d < 3; ++d) {
      const conv_side& a = s.side[d];
      seen_.side[d] = {a.large, a.stride, a.padding,
                       a.small + (a.filter - 1) * a.dilation / a.stride};
    }
  }

  std::ptrdiff_t scratch() const {
    scratch_parts parts;
    (void)lay_out(parts);
    return parts.used();
  }

  void run(int samples, const image_rows& large, const float* filter, std::ptrdiff_t filter_stride,
           const float* bias, const image_rows& small, float* scratch) const {
    scratch_parts parts(scratch);
    const places p = lay_out(parts);
    const conv_shape& s = shape_;
    const int taps = s.taps(), depth = s.large_channels * taps;
    fill_taps(p.taps);
    int width = s.side[2].small;
    int count = fill_rows(p.rows);
    count = detail::join_rows(count, width, p.rows);
    const window_grid grid{count, width, p.rows, depth, p.taps};
    const bool in_place = seen_.is_image() && detail::reads_in_place(grid);
    if (!in_place) seen_.clear(p.image);
    for (int g = 0; g < s.groups; ++g) {
      const float* const first = filter + g * s.small_channels * filter_stride;
      pack_filters(
          s.small_channels, depth, [=](int o, int k) { return first[o * filter_stride + k]; },
          p.filters);
      const correlation products(grid, s.small_channels, p.filters, p.work);
      for (int n = 0; n < samples; ++n) {
        const float* from = large.data + n * large.stride +
                            static_cast<std::ptrdiff_t>(g) * s.large_channels * s.large_size();
        if (!in_place) {
          seen_.copy(from, p.image);
          from = p.image;
        }
        float* const to = small.data + n * small.stride +
                          static_cast<std::ptrdiff_t>(g) * s.small_channels * s.small_size();
        products.run(from, bias == nullptr ? nullptr : bias + g * s.small_channels,
                     {to, s.small_size(), nullptr});
      }
    }
  }

  /// What filters see of the larger image, and where; the gradient of the filters looks there too.
  const spread_image& seen() const { return seen_; }
  void fill_taps(int* taps) const {
    for (int c = 0; c < shape_.large_channels; ++c)
      for (int z = 0; z < shape_.side[0].filter; ++z)
        for (int y = 0; y < shape_.side[1].filter; ++y)
          for (int x = 0; x < shape_.side[2].filter; ++x) {
            const int position[] = {z * shape_.side[0].dilation, y * shape_.side[1].dilation,
                                    x * shape_.side[2].dilation};
            *taps++ = c * seen_.channel_size() + seen_.offset(position);
          }
  }
  int fill_rows(int* rows) const {
    int n = 0;
    for (int z = 0; z < shape_.side[0].small; ++z)
      for (int y = 0; y < shape_.side[1].small; ++y)
        rows[n++] = (z * seen_.side[1].span + y) * seen_.side[2].span;
    return n;
  }

 private:
  struct places {
    float *image, *filters, *work;
    int *taps, *rows;
  };
  places lay_out(scratch_parts& parts) const {
    const int depth = shape_.large_channels * shape_.taps();
    places p;
    p.image = parts.floats(seen_.floats());
    p.filters = parts.floats(static_cast<std::ptrdiff_t>(shape_.small_channels) * depth);
    p.taps = parts.integers(depth);
    p.rows = parts.integers(shape_.side[0].small * shape_.side[1].small);
    p.work = parts.floats(correlate_scratch_floats(depth, shape_.small_size()));
    return p;
  }

  conv_shape shape_;
  spread_image seen_;
};

/// large[n] = bias + what each element of small[n] adds to its window, filter by filter: the
/// gradient of the larger image, or the forward pass of a transposed convolution.
///
/// Elements of the larger image whose place has the same remainder by the stride meet the same taps
/// of the filters: each such phase is a convolution of the smaller image with these taps, step 1.
class conv_backward {
 public:
  explicit conv_backward(const conv_shape& s) : shape_(s) {
    seen_.channels = s.small_channels;
    for (int d = 0; d < 3; ++d) {
      const conv_side& a = s.side[d];
      // Element q of phase r meets tap t at place q + (r + padding - t * dilation) / stride.
      int least = 0, most = 0;
      for (int r = 0; r < a.stride && r < a.large; ++r)
        for (int t = 0; t < a.filter; ++t) {
          const int step = r + a.padding - t * a.dilation;
          if (step % a.stride != 0) continue;
          if (step / a.stride < least) least = step / a.stride;
          const int last = (a.large - 1 - r) / a.stride + step / a.stride;
          if (last > most) most = last;
        }
      seen_.side[d] = {a.small, 1, -least, most - least + 1};
    }
  }

  std::ptrdiff_t scratch() const {
    scratch_parts parts;
    (void)lay_out(parts);
    return parts.used();
  }

  void run(int samples, const image_rows& small, const float* filter, std::ptrdiff_t filter_stride,
           const float* bias, const image_rows& large, float* scratch) const {
    scratch_parts parts(scratch);
    const places p = lay_out(parts);
    const conv_shape& s = shape_;
    const int taps = s.taps();
    const bool strided = s.side[0].stride * s.side[1].stride * s.side[2].stride > 1;
    seen_.clear(p.image);
    int phase[3];
    for (phase[0] = 0; phase[0] < most_phases(0); ++phase[0])
      for (phase[1] = 0; phase[1] < most_phases(1); ++phase[1])
        for (phase[2] = 0; phase[2] < most_phases(2); ++phase[2]) {
          const int met = find_taps(phase, p.met, p.steps);
          const int depth = s.small_channels * met;
          for (int o = 0; o < s.small_channels; ++o)
            for (int i = 0; i < met; ++i)
              p.taps[o * met + i] = o * seen_.channel_size() + p.steps[i];
          int width = extent(2, phase[2]);
          int count = fill_rows(phase, p.rows);
          if (strided)
            fill_places(phase, p.where);
          else
            count = detail::join_rows(count, width, p.rows);
          const window_grid grid{count, width, p.rows, depth, p.taps};
          const bool in_place = seen_.is_image() && detail::reads_in_place(grid);
          for (int g = 0; g < s.groups; ++g) {
            const float* const first = filter + g * s.small_channels * filter_stride;
            const int* const tap = p.met;
            pack_filters(
                s.large_channels, depth,
                [=](int c, int k) {
                  return first[k / met * filter_stride + c * taps + tap[k % met]];
                },
                p.filters);
            const correlation products(grid, s.large_channels, p.filters, p.work);
            for (int n = 0; n < samples; ++n) {
              const float* from =
                  small.data + n * small.stride +
                  static_cast<std::ptrdiff_t>(g) * s.small_channels * s.small_size();
              if (!in_place) {
                seen_.copy(from, p.image);
                from = p.image;
              }
              float* const to = large.data + n * large.stride +
                                static_cast<std::ptrdiff_t>(g) * s.large_channels * s.large_size();
              products.run(from, bias == nullptr ? nullptr : bias + g * s.large_channels,
                           {to, s.large_size(), strided ? p.where : nullptr});
            }
          }
        }
  }

 private:
  struct places {
    float *image, *filters, *work;
    int *taps, *rows, *met, *steps, *where;
  };
  places lay_out(scratch_parts& parts) const {
    const int taps = shape_.taps(), depth = shape_.small_channels * taps;
    places p;
    p.image = parts.floats(seen_.floats());
    p.filters = parts.floats(static_cast<std::ptrdiff_t>(shape_.large_channels) * depth);
    p.taps = parts.integers(depth);
    p.rows = parts.integers(shape_.side[0].large * shape_.side[1].large);
    p.met = parts.integers(taps);
    p.steps = parts.integers(taps);
    p.where = parts.integers(shape_.large_size());
    p.work = parts.floats(correlate_scratch_floats(depth, shape_.large_size()));
    return p;
  }
  int most_phases(int d) const {
    return shape_.side[d].stride < shape_.side[d].large ? shape_.side[d].stride
                                                        : shape_.side[d].large;
  }
  /// Elements of a phase along a side.
  int extent(int d, int phase) const {
    return (shape_.side[d].large - 1 - phase) / shape_.side[d].stride + 1;
  }
  /// The taps that a phase meets, and how far away in the spread image.
  int find_taps(const int (&phase)[3], int* met, int* steps) const {
    int n = 0, t = 0;
    int tap[3];
    for (tap[0] = 0; tap[0] < shape_.side[0].filter; ++tap[0])
      for (tap[1] = 0; tap[1] < shape_.side[1].filter; ++tap[1])
        for (tap[2] = 0; tap[2] < shape_.side[2].filter; ++tap[2], ++t) {
          int position[3];
          bool meets = true;
          for (int d = 0; d < 3; ++d) {
            const conv_side& a = shape_.side[d];
            const int step = phase[d] + a.padding - tap[d] * a.dilation;
            meets = meets && step % a.stride == 0;
            position[d] = step / a.stride + seen_.side[d].before;
          }
          if (!meets) continue;
          met[n] = t;
          steps[n++] =
              (position[0] * seen_.side[1].span + position[1]) * seen_.side[2].span + position[2];
        }
    return n;
  }
  int fill_rows(const int (&phase)[3], int* rows) const {
    int n = 0;
    for (int z = 0; z < extent(0, phase[0]); ++z)
      for (int y = 0; y < extent(1, phase[1]); ++y)
        rows[n++] = (z * seen_.side[1].span + y) * seen_.side[2].span;
    return n;
  }
  void fill_places(const int (&phase)[3], int* where) const {
    const conv_side* a = shape_.side;
    for (int z = phase[0]; z < a[0].large; z += a[0].stride)
      for (int y = phase[1]; y < a[1].large; y += a[1].stride)
        for (int x = phase[2]; x < a[2].large; x += a[2].stride)
          *where++ = (z * a[1].large + y) * a[2].large + x;
  }

  conv_shape shape_;
  spread_image seen_;
};

}  // namespace lamina::engine::cpu
