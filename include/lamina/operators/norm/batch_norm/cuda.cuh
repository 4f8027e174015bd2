// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/batch_norm/cuda.cuh - the sums of batch_norm and of its gradient, a block
// per channel; what is computed element by element are statements of fused groups.
#pragma once

#include <limits>

#include <lamina/core/math.hpp>
#include <lamina/engine/cuda/body/channel_sums.cuh>
#include <lamina/plan/image_operators.hpp>

namespace lamina::engine::cuda {

namespace detail {

/// Some arrays of one number per channel, and two of images.
struct batch_norm_arguments {
  const float *x, *slope;
  std::ptrdiff_t x_stride, slope_stride;
  const float* in[4];
  float* out[5];
  float keep, epsilon;
  bool given;  // whether the statistics were given
  channel_elements elements;
  int lines, width, count;
};

inline float* numbers(const operand& o) { return o ? o.row<float>(0) : nullptr; }

/// 1 / sqrt(variance + epsilon), 0 for equal numbers without an epsilon. Where the variance is more
/// than a float holds, its root may be none.
inline LAMINA_FN float inverse_of(float variance, double exact, float epsilon) {
  if (variance > std::numeric_limits<float>::max())
    return static_cast<float>(1 / math::sqrt(exact + static_cast<double>(epsilon)));
  const float sum = variance + epsilon;
  return sum == 0 ? 0.0f : 1 / math::sqrt(sum);
}

/// The mean and the variance of a channel. The variance is that of differences from the mean: it
/// loses nothing where the mean is far from 0.
struct batch_norm_lines {
  using arguments = batch_norm_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int c, const Team& team) {
    const int n = a.elements.count();
    double sum = 0, squares = 0;
    a.elements.each(c, team, [&](int row, int column) {
      sum += static_cast<double>(a.x[row * a.x_stride + column]);
    });
    const double middle = sum_of(team, sum) / at_least_one(n);
    a.elements.each(c, team, [&](int row, int column) {
      const double off = static_cast<double>(a.x[row * a.x_stride + column]) - middle;
      squares += off * off;
    });
    squares = sum_of(team, squares);
    if (team.rank() != 0) return;
    float mean = a.in[1][c], inverse = 1 / math::sqrt(a.in[2][c] + a.epsilon);
    // A single number passes as it is: (x - Bias) * 1 + Bias. Source: Fluid.
    if (n == 1) {
      if (a.out[2] != nullptr) a.out[2][c] = a.in[3][c];
      if (a.out[3] != nullptr) a.out[3][c] = 1;
      a.out[4][c] = 1;
      return;
    }
    // Without rows the moving statistics stay.
    if (n > 0) {
      const float found = static_cast<float>(middle), spread = static_cast<float>(squares / n);
      if (a.out[0] != nullptr) a.out[0][c] = a.keep * mean + (1 - a.keep) * found;
      if (a.out[1] != nullptr) a.out[1][c] = a.keep * a.in[2][c] + (1 - a.keep) * spread;
      mean = found;
      inverse = inverse_of(spread, squares / n, a.epsilon);
    }
    if (a.out[2] != nullptr) a.out[2][c] = mean;
    if (a.out[3] != nullptr) a.out[3][c] = inverse;
    a.out[4][c] = a.in[0][c] * inverse;
  }
};

/// The sums of the slope, and of the slope times the difference of x from its mean.
struct batch_norm_slope_lines {
  using arguments = batch_norm_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int c, const Team& team) {
    double of_slope = 0, of_product = 0;
    const float mean = a.in[1][c], inverse = a.in[2][c];
    // A single number has passed as it was.
    const bool passes = !a.given && a.elements.count() == 1;
    if (!passes)
      a.elements.each(c, team, [&](int row, int column) {
        const float d = a.slope[row * a.slope_stride + column];
        of_slope += static_cast<double>(d);
        // The difference may be large: the product without the inverse may be no float.
        of_product += static_cast<double>(d * ((a.x[row * a.x_stride + column] - mean) * inverse));
      });
    const float sum = static_cast<float>(sum_of(team, of_slope));
    const int n = a.elements.count();
    // The sum over no rows is 0, also where the moving variance is not a finite number.
    const float weighted = n == 0 ? 0.0f : static_cast<float>(sum_of(team, of_product));
    if (team.rank() != 0) return;
    if (a.out[0] != nullptr) a.out[0][c] = weighted;
    if (a.out[1] != nullptr) a.out[1][c] = sum;
    if (a.out[4] == nullptr) return;
    const float share = a.given || n == 0 ? 0.0f : 1 / static_cast<float>(n);
    if (a.out[2] != nullptr) a.out[2][c] = sum * share;
    if (a.out[3] != nullptr) a.out[3][c] = weighted * share * inverse;
    a.out[4][c] = passes ? 1.0f : a.in[0][c] * inverse;
  }
};

}  // namespace detail

template <>
struct call_kernel<batch_norm_factor> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    detail::batch_norm_arguments a{};
    const operand x = c.input(0);
    a.x = detail::numbers(x);
    a.x_stride = x.stride;
    constexpr int taken[4] = {1, 3, 4, 2};
    for (int i = 0; i < 4; ++i) a.in[i] = detail::numbers(c.input(taken[i]));
    for (int i = 0; i < 5; ++i) a.out[i] = detail::numbers(c.output(i));
    a.keep = static_cast<float>(c.number(1));
    a.epsilon = static_cast<float>(c.number(2));
    run_channels<detail::batch_norm_lines>(b, a, {x, c.output(4).columns});
  }
};

template <>
struct call_kernel<batch_norm_slopes> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    detail::batch_norm_arguments a{};
    const operand x = c.input(0), d = c.input(4);
    a.x = detail::numbers(x);
    a.x_stride = x.stride;
    a.slope = detail::numbers(d);
    a.slope_stride = d.stride;
    for (int i = 0; i < 3; ++i) a.in[i] = detail::numbers(c.input(1 + i));
    for (int i = 0; i < 5; ++i) a.out[i] = detail::numbers(c.output(i));
    a.given = c.flag(0) || c.flag(4);
    run_channels<detail::batch_norm_slope_lines>(b, a, {x, c.input(1).columns});
  }
};

}  // namespace lamina::engine::cuda
