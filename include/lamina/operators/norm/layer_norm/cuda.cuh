// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/layer_norm/cuda.cuh - normalisation of slices of each row, one team per
// slice: layer_norm, group_norm, instance_norm.
#pragma once

#include <lamina/core/config.hpp>

#include <limits>

#include <lamina/core/numbers/math.hpp>
#include <lamina/engine/cuda/body/channel_sums.cuh>
#include <lamina/engine/cuda/body/column_sums.cuh>
#include <lamina/engine/cuda/body/element_loops.cuh>
#include <lamina/operators/norm/layer_norm/common.hpp>
#include <lamina/operators/norm/layer_norm/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// An array of any shape with one number per slice.
struct part_numbers {
  float* data;
  divider columns;
  std::ptrdiff_t stride;

  part_numbers() = default;
  explicit part_numbers(const operand& o)
      : data(o ? o.row<float>(0) : nullptr), columns(o.columns), stride(o.stride) {}
  LAMINA_INLINE LAMINA_FN float& at(int i) const {
    const int row = columns.divide(i);
    return data[row * stride + i];
  }
};

/// Slices of `n` elements that are normalised together; a row has `outer` slices. Element j of
/// slice o uses the scale and bias at index o * of_part + j / size.
struct normalise_arguments {
  const float *x, *grad, *scale, *bias;
  float *to, *to_scale, *to_bias;
  std::ptrdiff_t x_stride, grad_stride, to_stride;
  part_numbers means, spreads;
  divider outer, size;
  int rows, n, of_part;
  bool saves_inverse;
  float epsilon;
  int lines, width, count;

  LAMINA_INLINE LAMINA_FN float inverse(int part) const {
    const float saved = spreads.at(part);
    return saves_inverse ? saved : inverse_of(part, means.at(part), saved);
  }
  /// 1 / sqrt(variance + epsilon), or 0 if all elements are equal and epsilon is 0. If the variance
  /// of a slice overflows a float, its root may still be finite: then each thread computes the root
  /// again.
  LAMINA_INLINE LAMINA_FN float inverse_of(int part, float mean, float variance) const {
    if (variance > (std::numeric_limits<float>::max)()) return inverse_of_large(part, mean);
    const float sum = variance + epsilon;
    return sum == 0 ? 0.0f : 1 / math::sqrt(sum);
  }

 private:
  LAMINA_INLINE LAMINA_FN float inverse_of_large(int part, float mean) const {
    int o = part;
    const int row = outer.divide(o);
    const float* const from = x + row * x_stride + static_cast<std::ptrdiff_t>(o) * n;
    double squares = 0;
    LAMINA_CUDA_KEEP_LOOP
    for (int j = 0; j < n; ++j) {
      const double off = static_cast<double>(from[j]) - static_cast<double>(mean);
      squares += off * off;
    }
    return static_cast<float>(math::sqrt(static_cast<double>(n) / squares));
  }
};

struct normalise_lines {
  using arguments = normalise_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    int o = i;
    const int row = a.outer.divide(o);
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(o) * a.n;
    const float* const x = a.x + row * a.x_stride + at;
    const float all = static_cast<float>(a.n);
    float sum = 0, squares = 0;
    // Adds up differences from x[0], so that the mean of equal numbers is exact.
    for (int j = team.rank(); j < a.n; j += team.size()) sum += x[j] - x[0];
    float mean = x[0] + sum_of(team, sum) / all;
    // The sum may overflow a float even if the mean does not.
    if (!(math::abs(mean) <= (std::numeric_limits<float>::max)())) {
      double whole = 0;
      for (int j = team.rank(); j < a.n; j += team.size()) whole += static_cast<double>(x[j]);
      mean = static_cast<float>(sum_of(team, whole) / a.n);
    }
    for (int j = team.rank(); j < a.n; j += team.size()) squares += (x[j] - mean) * (x[j] - mean);
    const float variance = sum_of(team, squares) / all;
    const float inverse = a.inverse_of(i, mean, variance);
    if (team.rank() == 0) {
      if (a.means.data != nullptr) a.means.at(i) = mean;
      if (a.spreads.data != nullptr) a.spreads.at(i) = a.saves_inverse ? inverse : variance;
    }
    if (a.to == nullptr) return;
    float* const y = a.to + row * a.to_stride + at;
    for (int j = team.rank(); j < a.n; j += team.size()) {
      const int k = o * a.of_part + a.size.quotient(j);
      const float h = (x[j] - mean) * inverse;
      y[j] = (a.scale != nullptr ? h * a.scale[k] : h) + (a.bias != nullptr ? a.bias[k] : 0.0f);
    }
  }
};

/// The gradient of each slice. With h = (x - mean) * inverse and g = dy * scale: dx = (g - mean(g)
/// - h * mean(g * h)) * inverse.
struct normalise_grad_lines {
  using arguments = normalise_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    int o = i;
    const int row = a.outer.divide(o);
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(o) * a.n;
    const float *const x = a.x + row * a.x_stride + at, *const d =
                                                            a.grad + row * a.grad_stride + at;
    const float mean = a.means.at(i), inverse = a.inverse(i), all = static_cast<float>(a.n);
    float sum = 0, weighted = 0;
    for (int j = team.rank(); j < a.n; j += team.size()) {
      const float g = grad_at(a, d, o, j);
      sum += g;
      weighted += g * ((x[j] - mean) * inverse);
    }
    sum = sum_of(team, sum) / all;
    weighted = sum_of(team, weighted) / all;
    float* const to = a.to + row * a.to_stride + at;
    for (int j = team.rank(); j < a.n; j += team.size())
      to[j] = (grad_at(a, d, o, j) - sum - (x[j] - mean) * inverse * weighted) * inverse;
  }

 private:
  static LAMINA_INLINE LAMINA_FN float grad_at(const arguments& a, const float* d, int o, int j) {
    return a.scale != nullptr ? d[j] * a.scale[o * a.of_part + a.size.quotient(j)] : d[j];
  }
};

/// One term each of the gradients of bias and scale: the gradient of element `at` of a row, and
/// this gradient times the normalised x.
struct normalise_terms {
  normalise_arguments of;
  LAMINA_INLINE LAMINA_FN void add(int part, int row, int at, double (&to)[2]) const {
    const float d = of.grad[row * of.grad_stride + at];
    const float off = of.x[row * of.x_stride + at] - of.means.at(part);
    to[0] += static_cast<double>(d);
    to[1] += static_cast<double>(d * (off * of.inverse(part)));
  }
  LAMINA_INLINE LAMINA_FN void store(int, int k, const double (&sums)[2]) const {
    if (of.to_scale != nullptr) of.to_scale[k] = static_cast<float>(sums[1]);
    if (of.to_bias != nullptr) of.to_bias[k] = static_cast<float>(sums[0]);
  }
};
/// The gradient if each element of a slice has a separate scale: a sum over the slices of all rows.
struct normalise_columns : normalise_terms {
  static constexpr int sums = 2;
  LAMINA_INLINE LAMINA_FN void add(int part, int column, double (&to)[2]) const {
    int outer = part;
    const int row = of.outer.divide(outer);
    normalise_terms::add(part, row, outer * of.n + column, to);
  }
};
/// The gradient if each channel has a separate scale: a sum over the elements of a channel.
struct normalise_channels : normalise_terms {
  static constexpr int sums = 2;
  LAMINA_INLINE LAMINA_FN void add(int channel, int row, int column, double (&to)[2]) const {
    normalise_terms::add(row * of.outer.divisor() + channel / of.of_part, row, column, to);
  }
};

inline const float* row_of(const operand& o) { return o ? o.row<const float>(0) : nullptr; }

/// The arrays that an operator normalises, and their division into slices.
template <class Op>
normalise_arguments normalise_of(const call_context& c, const operand& x) {
  normalise_arguments a{};
  a.epsilon = static_cast<float>(c.number(0));
  a.x = row_of(x);
  a.x_stride = x.stride;
  a.scale = row_of(c.input(1));
  if constexpr (__is_same(Op, operators::layer_norm)) {
    const normalised_parts parts(c, x);
    a.rows = parts.rows;
    a.outer = divider(parts.outer);
    a.n = parts.n;
  } else {
    constexpr bool instance = __is_same(Op, operators::instance_norm);
    const int channels = x.dims[1], groups = instance ? channels : c.integer(1);
    if (groups < 1 || channels % groups != 0)
      fail(c, {"expected a number of groups that divides ", channels, " channels, found ", groups});
    a.rows = x.rows;
    a.outer = divider(groups);
    a.n = x.columns / groups;
    a.of_part = channels / groups;
    a.size = divider(x.columns / channels);
    a.saves_inverse = instance;
  }
  return a;
}

template <class Op>
struct normalise_kernel {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), y = c.output(0);
    require_float(c, x);
    auto a = normalise_of<Op>(c, x);
    a.bias = row_of(c.input(2));
    a.to = y ? y.template row<float>(0) : nullptr;
    a.to_stride = y.stride;
    a.means = part_numbers(c.output(1));
    a.spreads = part_numbers(c.output(2));
    run_lines<normalise_lines>(b, a, a.rows * a.outer.divisor(), a.n, false);
  }
};

template <class Op>
struct normalise_gradient_kernel {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), grad = c.input(4), dx = c.output(0);
    const operand dscale = c.output(1), dbias = c.output(2);
    auto a = normalise_of<Op>(c, x);
    a.grad = row_of(grad);
    a.grad_stride = grad.stride;
    a.means = part_numbers(c.input(2));
    a.spreads = part_numbers(c.input(3));
    if (dx) {
      a.to = dx.template row<float>(0);
      a.to_stride = dx.stride;
      run_lines<normalise_grad_lines>(b, a, a.rows * a.outer.divisor(), a.n, false);
    }
    if (!dscale && !dbias) return;
    a.to_scale = dscale ? dscale.template row<float>(0) : nullptr;
    a.to_bias = dbias ? dbias.template row<float>(0) : nullptr;
    if constexpr (__is_same(Op, operators::layer_norm)) {
      const normalise_columns columns{{a}};
      sum_columns(b, columns, columns, a.rows * a.outer.divisor(), a.n, c.run.scratch);
    } else {
      const normalise_channels channels{{a}};
      sum_channels(b, channels, channels, {x, x.dims[1]}, c.run.scratch);
    }
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    if constexpr (!__is_same(Op, operators::layer_norm))
      return channel_scratch(normalise_channels::sums, {c.input(0), c.input(0).dims[1]});
    const auto a = normalise_of<Op>(c, c.input(0));
    return column_scratch<Backend>(2, a.rows * a.outer.divisor(), a.n);
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::layer_norm> : detail::normalise_kernel<operators::layer_norm> {};
template <>
struct call_kernel<gradient_of<operators::layer_norm>>
    : detail::normalise_gradient_kernel<operators::layer_norm> {};

template <>
struct call_kernel<operators::group_norm> : detail::normalise_kernel<operators::group_norm> {};
template <>
struct call_kernel<operators::instance_norm> : detail::normalise_kernel<operators::instance_norm> {
};
template <>
struct call_kernel<gradient_of<operators::group_norm>>
    : detail::normalise_gradient_kernel<operators::group_norm> {};
template <>
struct call_kernel<gradient_of<operators::instance_norm>>
    : detail::normalise_gradient_kernel<operators::instance_norm> {};

}}}  // namespace lamina::engine::cuda
