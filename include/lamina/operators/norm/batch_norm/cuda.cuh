// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/batch_norm/cuda.cuh - the statistics of batch_norm and the sums of its
// gradient; fused groups compute the elements.
#pragma once

#include <lamina/core/config.hpp>

#include <limits>

#include <lamina/core/numbers/math.hpp>
#include <lamina/engine/cuda/body/channel_sums.cuh>
#include <lamina/plan/image_operators.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// The arguments: two arrays of images, and several arrays with one number per channel.
struct batch_norm_arguments {
  const float *x, *grad;
  std::ptrdiff_t x_stride, grad_stride;
  const float* in[4];
  float* out[5];
  float keep, epsilon;
  bool given;               // whether the statistics are inputs
  int channel_size, count;  // elements of a channel: in a row, in the batch
};

inline float* numbers(const operand& o) { return o ? o.row<float>(0) : nullptr; }

/// 1 / sqrt(variance + epsilon), or 0 if all numbers are equal and epsilon is 0. If the variance
/// overflows a float, its root may still be finite: then `exact` is used.
inline LAMINA_FN float inverse_of(float variance, double exact, float epsilon) {
  if (variance > (std::numeric_limits<float>::max)())
    return static_cast<float>(1 / math::sqrt(exact + static_cast<double>(epsilon)));
  const float sum = variance + epsilon;
  return sum == 0 ? 0.0f : 1 / math::sqrt(sum);
}

/// Mean and variance of a channel, computed from the differences from its first element and their
/// squares. If the mean is far from 0, so is the first element, and no digits are lost. If the
/// first element is far from the others, the variance is large as well.
struct batch_norm_terms : batch_norm_arguments {
  static constexpr int sums = 2;

  LAMINA_INLINE LAMINA_FN void add(int channel, int row, int column, double (&to)[2]) const {
    const double off =
        static_cast<double>(x[row * x_stride + column]) - static_cast<double>(first(channel));
    to[0] += off, to[1] += off * off;
  }
  LAMINA_INLINE LAMINA_FN void store(int, int c, const double (&of)[2]) const {
    const int n = count;
    float mean = in[1][c], inverse = 1 / math::sqrt(in[2][c] + epsilon);
    // A single element passes unchanged, as in Fluid: (x - Bias) * 1 + Bias.
    if (n == 1) {
      if (out[2] != nullptr) out[2][c] = in[3][c];
      if (out[3] != nullptr) out[3][c] = 1;
      out[4][c] = 1;
      return;
    }
    // A batch without rows leaves the moving statistics unchanged.
    if (n > 0) {
      const double off = of[0] / n, variance = of[1] / n - off * off;
      const double exact = variance < 0 ? 0.0 : variance;  // a NaN stays NaN
      const float found = static_cast<float>(static_cast<double>(first(c)) + off);
      const float spread = static_cast<float>(exact);
      if (out[0] != nullptr) out[0][c] = keep * mean + (1 - keep) * found;
      if (out[1] != nullptr) out[1][c] = keep * in[2][c] + (1 - keep) * spread;
      mean = found;
      inverse = inverse_of(spread, exact, epsilon);
    }
    if (out[2] != nullptr) out[2][c] = mean;
    if (out[3] != nullptr) out[3][c] = inverse;
    out[4][c] = in[0][c] * inverse;
  }

 private:
  /// The first element of a channel, or 0 if it is infinite or NaN, because differences from it
  /// would be NaN.
  LAMINA_INLINE LAMINA_FN float first(int channel) const {
    const float value = x[channel * channel_size];
    return value - value == 0 ? value : 0.0f;
  }
};

/// Two sums per channel: of the gradient, and of the gradient times the difference of x from its
/// mean.
struct batch_norm_grad_terms : batch_norm_arguments {
  static constexpr int sums = 2;

  LAMINA_INLINE LAMINA_FN void add(int channel, int row, int column, double (&to)[2]) const {
    // A single element has passed unchanged, so it adds nothing.
    if (passes()) return;
    const float d = grad[row * grad_stride + column];
    to[0] += static_cast<double>(d);
    // Multiplies the difference by the inverse first: the product of the difference and the
    // gradient may overflow.
    to[1] +=
        static_cast<double>(d * ((x[row * x_stride + column] - in[1][channel]) * in[2][channel]));
  }
  LAMINA_INLINE LAMINA_FN void store(int, int c, const double (&of)[2]) const {
    const int n = count;
    const float sum = static_cast<float>(of[0]), inverse = in[2][c];
    // The sum over no rows is 0, even if the moving variance is not finite.
    const float weighted = static_cast<float>(of[1]);
    if (out[0] != nullptr) out[0][c] = weighted;
    if (out[1] != nullptr) out[1][c] = sum;
    if (out[4] == nullptr) return;
    const float weight = given || n == 0 ? 0.0f : 1 / static_cast<float>(n);
    if (out[2] != nullptr) out[2][c] = sum * weight;
    if (out[3] != nullptr) out[3][c] = weighted * weight * inverse;
    out[4][c] = passes() ? 1.0f : in[0][c] * inverse;
  }

 private:
  LAMINA_INLINE LAMINA_FN bool passes() const { return !given && count == 1; }
};

}  // namespace detail

template <>
struct call_kernel<operators::batch_norm_factor> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    detail::batch_norm_terms a{};
    const operand x = c.input(0);
    const channel_elements elements(x, c.output(4).columns);
    a.x = detail::numbers(x);
    a.x_stride = x.stride;
    constexpr int taken[4] = {1, 3, 4, 2};
    for (int i = 0; i < 4; ++i) a.in[i] = detail::numbers(c.input(taken[i]));
    for (int i = 0; i < 5; ++i) a.out[i] = detail::numbers(c.output(i));
    a.keep = static_cast<float>(c.number(1));
    a.epsilon = static_cast<float>(c.number(2));
    a.channel_size = elements.size.divisor();
    a.count = elements.count();
    sum_channels(b, a, a, elements, c.run.scratch);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return channel_scratch(detail::batch_norm_terms::sums, {c.input(0), c.output(4).columns});
  }
};

template <>
struct call_kernel<operators::batch_norm_grads> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    detail::batch_norm_grad_terms a{};
    const operand x = c.input(0), d = c.input(4);
    const channel_elements elements(x, c.input(1).columns);
    a.x = detail::numbers(x);
    a.x_stride = x.stride;
    a.grad = detail::numbers(d);
    a.grad_stride = d.stride;
    for (int i = 0; i < 3; ++i) a.in[i] = detail::numbers(c.input(1 + i));
    for (int i = 0; i < 5; ++i) a.out[i] = detail::numbers(c.output(i));
    a.given = c.flag(0) || c.flag(4);
    a.channel_size = elements.size.divisor();
    a.count = elements.count();
    sum_channels(b, a, a, elements, c.run.scratch);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return channel_scratch(detail::batch_norm_grad_terms::sums, {c.input(0), c.input(1).columns});
  }
};

}}}  // namespace lamina::engine::cuda
