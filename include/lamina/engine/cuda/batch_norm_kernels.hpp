// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/batch_norm_kernels.hpp - the sums of batch_norm and of its gradient, a team or
// some a channel; what is computed element by element are statements of fused groups.
#pragma once

#include <lamina/core/math.hpp>
#include <lamina/engine/cuda/part_sums.hpp>
#include <lamina/plan/image_operators.hpp>

namespace lamina::engine::cuda {

namespace detail {

/// Some arrays of one number a channel, and two of images.
struct channel_arguments : part_sum_arguments {
  const float *x, *slope;
  std::ptrdiff_t x_stride, slope_stride;
  const float* in[4];
  float* out[5];
  float keep, epsilon;
  bool given;  // whether the statistics were given

  LAMINA_INLINE LAMINA_FN int count() const { return rows * size; }
};

inline float* numbers(const operand& o) { return o ? o.row<float>(0) : nullptr; }

/// Arrays of images: the shape comes from `x`.
inline void set_images(channel_arguments& a, const operand& x) {
  a.x = x.row<const float>(0);
  a.x_stride = x.stride;
  a.rows = x.rows;
  a.size = a.channels > 0 ? x.columns / a.channels : 0;
  a.packs = is_packs(a.x, x.stride, elements_together(a.rows, a.channels, a.size));
}

/// The mean of a part and the squares around it. What is left of the differences from the mean
/// corrects it: of a mean that is far from 0 little is lost, however many terms a thread adds.
/// Source: Chan, Golub and LeVeque, Algorithms for computing the sample variance (1983).
struct batch_norm_moments {
  using arguments = channel_arguments;
  static constexpr int sums = 2;

  template <class Walk, class Pack = typename Walk::pack_type>
  static LAMINA_INLINE LAMINA_FN void part(const arguments& a, const Walk& walk, Pack (&found)[2]) {
    found[0] = found[1] = filled<Pack>(0.0f);
    // Without rows there is nothing to learn from.
    if (walk.elements() == 0) return;
    const float share = 1 / static_cast<float>(walk.elements());
    Pack sum = filled<Pack>(0.0f);
    walk.each([&](int row, int column) {
      const Pack x = load_constant<Pack>(a.x + row * a.x_stride + column);
      LAMINA_CUDA_UNROLL
      for (int j = 0; j < Pack::width; ++j) sum.v[j] += x.v[j];
    });
    Pack mean = walk.total(sum);
    LAMINA_CUDA_UNROLL
    for (int j = 0; j < Pack::width; ++j) mean.v[j] *= share;
    Pack left = filled<Pack>(0.0f), squares = filled<Pack>(0.0f);
    walk.each([&](int row, int column) {
      const Pack x = load_constant<Pack>(a.x + row * a.x_stride + column);
      LAMINA_CUDA_UNROLL
      for (int j = 0; j < Pack::width; ++j) {
        const float off = x.v[j] - mean.v[j];
        left.v[j] += off;
        squares.v[j] += off * off;
      }
    });
    left = walk.total(left);
    squares = walk.total(squares);
    LAMINA_CUDA_UNROLL
    for (int j = 0; j < Pack::width; ++j) {
      found[0].v[j] = mean.v[j] + left.v[j] * share;
      const float around = squares.v[j] - left.v[j] * left.v[j] * share;
      found[1].v[j] = around < 0 ? 0 : around;
    }
  }
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void join(const arguments& a, int channel, const Team& team,
                                           float (&found)[2]) {
    const int inner = a.inner.divisor(), all = a.parts * inner;
    const float pivot = a.at(0, 0, channel * inner);
    float sum = 0, squares = 0;
    for (int i = team.rank(); i < all; i += team.size()) {
      int j = i;
      const int part = a.inner.divide(j);
      sum += static_cast<float>(a.elements(part)) * (a.at(0, part, channel * inner + j) - pivot);
    }
    const float mean = pivot + sum_of(team, sum) / static_cast<float>(a.count());
    for (int i = team.rank(); i < all; i += team.size()) {
      int j = i;
      const int part = a.inner.divide(j);
      const float off = a.at(0, part, channel * inner + j) - mean;
      squares +=
          a.at(1, part, channel * inner + j) + static_cast<float>(a.elements(part)) * off * off;
    }
    found[0] = mean;
    found[1] = sum_of(team, squares);
  }
  static LAMINA_INLINE LAMINA_FN void finish(const arguments& a, int c, const float (&found)[2]) {
    float mean = a.in[1][c], variance = a.in[2][c];
    if (a.rows > 0) {
      const float spread = found[1] / static_cast<float>(a.count());
      if (a.out[0] != nullptr) a.out[0][c] = a.keep * mean + (1 - a.keep) * found[0];
      if (a.out[1] != nullptr) a.out[1][c] = a.keep * variance + (1 - a.keep) * spread;
      mean = found[0];
      variance = spread;
    }
    const float inverse = 1 / math::sqrt(variance + a.epsilon);
    if (a.out[2] != nullptr) a.out[2][c] = mean;
    if (a.out[3] != nullptr) a.out[3][c] = inverse;
    a.out[4][c] = a.in[0][c] * inverse;
  }
};

/// The sums of the slope, and of the slope times what x is off its mean.
struct batch_norm_slope_sums : added_parts<2> {
  using arguments = channel_arguments;

  template <class Walk, class Pack = typename Walk::pack_type>
  static LAMINA_INLINE LAMINA_FN void part(const arguments& a, const Walk& walk, Pack (&found)[2]) {
    Pack sum = filled<Pack>(0.0f), weighted = filled<Pack>(0.0f);
    const Pack mean = walk.number(a.in[1]);
    walk.each([&](int row, int column) {
      const Pack d = load_constant<Pack>(a.slope + row * a.slope_stride + column);
      const Pack v = load_constant<Pack>(a.x + row * a.x_stride + column);
      LAMINA_CUDA_UNROLL
      for (int j = 0; j < Pack::width; ++j) {
        sum.v[j] += d.v[j];
        weighted.v[j] += d.v[j] * (v.v[j] - mean.v[j]);
      }
    });
    found[0] = walk.total(sum);
    found[1] = walk.total(weighted);
  }
  static LAMINA_INLINE LAMINA_FN void finish(const arguments& a, int c, const float (&found)[2]) {
    const float inverse = a.in[2][c], sum = found[0], weighted = found[1] * inverse;
    if (a.out[0] != nullptr) a.out[0][c] = weighted;
    if (a.out[1] != nullptr) a.out[1][c] = sum;
    if (a.out[4] == nullptr) return;
    const int n = a.count();
    const float share = a.given || n == 0 ? 0.0f : 1 / static_cast<float>(n);
    a.out[2][c] = sum * share;
    a.out[3][c] = weighted * share * inverse;
    a.out[4][c] = a.in[0][c] * inverse;
  }
};

/// Floats for the parts of sums over images `x`, whose data need not be there.
template <class Sum, class Backend>
std::ptrdiff_t image_scratch(const operand& x, int channels) {
  return image_part_floats<Sum, Backend>(x.rows, channels, channels > 0 ? x.columns / channels : 0);
}

}  // namespace detail

template <>
struct call_kernel<batch_norm_factor> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    detail::channel_arguments a{};
    const operand x = c.input(0), factor = c.output(4);
    a.channels = factor.columns;
    if (x) detail::set_images(a, x);
    constexpr int taken[3] = {1, 3, 4};
    for (int i = 0; i < 3; ++i) a.in[i] = detail::numbers(c.input(taken[i]));
    for (int i = 0; i < 5; ++i) a.out[i] = detail::numbers(c.output(i));
    a.keep = static_cast<float>(c.number(1));
    a.epsilon = static_cast<float>(c.number(2));
    sum_images<detail::batch_norm_moments>(b, a, c.run.scratch);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_site& c) {
    return detail::image_scratch<detail::batch_norm_moments, Backend>(c.input(0),
                                                                      c.output(4).columns);
  }
};

template <>
struct call_kernel<batch_norm_slopes> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    detail::channel_arguments a{};
    const operand x = c.input(0), scale = c.input(1), d = c.input(4);
    a.channels = scale.columns;
    detail::set_images(a, x);
    a.slope = d.row<const float>(0);
    a.slope_stride = d.stride;
    a.packs = a.packs && is_packs(a.slope, d.stride, 0);
    for (int i = 0; i < 3; ++i) a.in[i] = detail::numbers(c.input(1 + i));
    for (int i = 0; i < 5; ++i) a.out[i] = detail::numbers(c.output(i));
    a.given = c.flag(0) || c.flag(4);
    sum_images<detail::batch_norm_slope_sums>(b, a, c.run.scratch);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_site& c) {
    return detail::image_scratch<detail::batch_norm_slope_sums, Backend>(c.input(0),
                                                                         c.input(1).columns);
  }
};

}  // namespace lamina::engine::cuda
