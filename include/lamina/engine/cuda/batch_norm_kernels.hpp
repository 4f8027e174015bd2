// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/batch_norm_kernels.hpp - the sums of batch_norm and of its gradient, a team a
// channel; what is computed element by element are statements of fused groups.
#pragma once

#include <lamina/core/math.hpp>
#include <lamina/engine/cuda/call_site.hpp>
#include <lamina/engine/cuda/divider.hpp>
#include <lamina/plan/image_operators.hpp>

namespace lamina::engine::cuda {

namespace detail {

/// Some arrays of one number a channel, and two of images.
struct channel_arguments {
  const float *x, *slope;
  std::ptrdiff_t x_stride, slope_stride;
  const float* in[4];
  float* out[5];
  divider size;  // elements of a channel of an image
  int images;
  float keep, epsilon;
  bool given;  // whether the statistics were given
  int lines, width;

  /// Elements of a channel, and the i-th of them.
  LAMINA_INLINE LAMINA_FN int count() const { return images * size.divisor(); }
  LAMINA_INLINE LAMINA_FN float element(const float* of, std::ptrdiff_t stride, int channel,
                                        int i) const {
    const int image = size.divide(i);
    return of[image * stride + static_cast<std::ptrdiff_t>(channel) * size.divisor() + i];
  }
};

inline float* numbers(const operand& o) { return o ? o.row<float>(0) : nullptr; }

/// Arrays of images: the shape comes from `x`.
inline void set_images(channel_arguments& a, const operand& x, int channels) {
  a.x = x.row<const float>(0);
  a.x_stride = x.stride;
  a.images = x.rows;
  a.size = divider(channels > 0 ? x.columns / channels : 0);
}

struct batch_norm_factor_body {
  using arguments = channel_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, const Team& team) {
    for (int c = team.index; c < a.lines; c += team.count) {
      const float *const moving_mean = a.in[1], *const moving_variance = a.in[2];
      float mean = moving_mean[c], variance = moving_variance[c];
      // Without rows there is nothing to learn from.
      if (a.images > 0) {
        const int n = a.count();
        float sum = 0;
        for (int i = team.rank(); i < n; i += team.size()) sum += a.element(a.x, a.x_stride, c, i);
        const float found = sum_of(team, sum) / static_cast<float>(n);
        float squares = 0;
        for (int i = team.rank(); i < n; i += team.size()) {
          const float off = a.element(a.x, a.x_stride, c, i) - found;
          squares += off * off;
        }
        const float spread = sum_of(team, squares) / static_cast<float>(n);
        if (team.rank() == 0) {
          if (a.out[0] != nullptr) a.out[0][c] = a.keep * mean + (1 - a.keep) * found;
          if (a.out[1] != nullptr) a.out[1][c] = a.keep * variance + (1 - a.keep) * spread;
        }
        mean = found;
        variance = spread;
      }
      if (team.rank() == 0) {
        const float inverse = 1 / math::sqrt(variance + a.epsilon);
        if (a.out[2] != nullptr) a.out[2][c] = mean;
        if (a.out[3] != nullptr) a.out[3][c] = inverse;
        a.out[4][c] = a.in[0][c] * inverse;
      }
    }
  }
};

struct batch_norm_slopes_body {
  using arguments = channel_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, const Team& team) {
    for (int c = team.index; c < a.lines; c += team.count) {
      const float mean = a.in[1][c], inverse = a.in[2][c];
      const int n = a.count();
      float sum = 0, weighted = 0;
      for (int i = team.rank(); i < n; i += team.size()) {
        const float d = a.element(a.slope, a.slope_stride, c, i);
        sum += d;
        weighted += d * (a.element(a.x, a.x_stride, c, i) - mean);
      }
      sum = sum_of(team, sum);
      weighted = sum_of(team, weighted) * inverse;
      if (team.rank() != 0) continue;
      if (a.out[0] != nullptr) a.out[0][c] = weighted;
      if (a.out[1] != nullptr) a.out[1][c] = sum;
      if (a.out[4] == nullptr) continue;
      const float share = a.given || n == 0 ? 0.0f : 1 / static_cast<float>(n);
      a.out[2][c] = sum * share;
      a.out[3][c] = weighted * share * inverse;
      a.out[4][c] = a.in[0][c] * inverse;
    }
  }
};

}  // namespace detail

template <>
struct call_kernel<batch_norm_factor> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    detail::channel_arguments a{};
    const operand x = c.input(0), factor = c.output(4);
    a.lines = factor.columns;
    if (x) detail::set_images(a, x, a.lines);
    constexpr int taken[3] = {1, 3, 4};
    for (int i = 0; i < 3; ++i) a.in[i] = detail::numbers(c.input(taken[i]));
    for (int i = 0; i < 5; ++i) a.out[i] = detail::numbers(c.output(i));
    a.keep = static_cast<float>(c.number(1));
    a.epsilon = static_cast<float>(c.number(2));
    a.width = x ? x.rows * (x.columns / at_least_one(a.lines)) : 1;
    b.template lines<detail::batch_norm_factor_body>(a);
  }
};

template <>
struct call_kernel<batch_norm_slopes> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    detail::channel_arguments a{};
    const operand x = c.input(0), scale = c.input(1), d = c.input(4);
    a.lines = scale.columns;
    detail::set_images(a, x, a.lines);
    a.slope = d.row<const float>(0);
    a.slope_stride = d.stride;
    for (int i = 0; i < 3; ++i) a.in[i] = detail::numbers(c.input(1 + i));
    for (int i = 0; i < 5; ++i) a.out[i] = detail::numbers(c.output(i));
    a.given = c.flag(0) || c.flag(4);
    a.width = x.rows * (x.columns / at_least_one(a.lines));
    b.template lines<detail::batch_norm_slopes_body>(a);
  }
};

}  // namespace lamina::engine::cuda
