// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/norm_kernels.hpp - normalisation inside of each row: layer_norm, group_norm,
// instance_norm; a part of a row a team.
#pragma once

#include <lamina/core/math.hpp>
#include <lamina/engine/call/normalised_parts.hpp>
#include <lamina/engine/cuda/element_loops.hpp>
#include <lamina/operators/image_norm.hpp>
#include <lamina/operators/norm.hpp>

namespace lamina::engine::cuda {

namespace detail {

/// One number a part, whatever the shape of the array.
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

/// Parts of `n` elements that are normalised together, `outer` a row. Element j of part o has the
/// factor and shift of number o * of_part + j / size.
struct normalise_arguments {
  const float *x, *slope, *scale, *bias;
  float *to, *to_scale, *to_bias;
  std::ptrdiff_t x_stride, slope_stride, to_stride;
  part_numbers means, spreads;
  divider outer, size;
  int rows, n, of_part;
  bool saves_inverse;
  float epsilon;
  int lines, width, count;

  LAMINA_INLINE LAMINA_FN float inverse(int part) const {
    const float saved = spreads.at(part);
    return saves_inverse ? saved : 1 / math::sqrt(saved + epsilon);
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
    for (int j = team.rank(); j < a.n; j += team.size()) sum += x[j];
    const float mean = sum_of(team, sum) / all;
    for (int j = team.rank(); j < a.n; j += team.size()) squares += (x[j] - mean) * (x[j] - mean);
    const float variance = sum_of(team, squares) / all;
    const float inverse = 1 / math::sqrt(variance + a.epsilon);
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

/// With h = (x - mean) * inverse and g = dy * scale: dx = (g - mean(g) - h * mean(g * h)) *
/// inverse over each part.
struct normalise_slope_lines {
  using arguments = normalise_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    int o = i;
    const int row = a.outer.divide(o);
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(o) * a.n;
    const float *const x = a.x + row * a.x_stride + at, *const d =
                                                            a.slope + row * a.slope_stride + at;
    const float mean = a.means.at(i), inverse = a.inverse(i), all = static_cast<float>(a.n);
    float sum = 0, weighted = 0;
    for (int j = team.rank(); j < a.n; j += team.size()) {
      const float g = slope_at(a, d, o, j);
      sum += g;
      weighted += g * (x[j] - mean) * inverse;
    }
    sum = sum_of(team, sum) / all;
    weighted = sum_of(team, weighted) / all;
    float* const to = a.to + row * a.to_stride + at;
    for (int j = team.rank(); j < a.n; j += team.size())
      to[j] = (slope_at(a, d, o, j) - sum - (x[j] - mean) * inverse * weighted) * inverse;
  }

 private:
  static LAMINA_INLINE LAMINA_FN float slope_at(const arguments& a, const float* d, int o, int j) {
    return a.scale != nullptr ? d[j] * a.scale[o * a.of_part + a.size.quotient(j)] : d[j];
  }
};

/// The gradients of scale and bias: number k is a sum over rows and, where a part has one number an
/// element, over the parts of a row; else over the elements of a channel.
struct normalise_number_lines {
  using arguments = normalise_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int k, const Team& team) {
    const bool by_channel = a.of_part > 0;
    const divider& inner = by_channel ? a.size : a.outer;
    const int terms = a.rows * inner.divisor();
    float sum = 0, weighted = 0;
    for (int t = team.rank(); t < terms; t += team.size()) {
      int u = t;
      const int row = inner.divide(u);
      const int part = row * a.outer.divisor() + (by_channel ? k / a.of_part : u);
      const std::ptrdiff_t at = by_channel ? static_cast<std::ptrdiff_t>(k) * a.size.divisor() + u
                                           : static_cast<std::ptrdiff_t>(u) * a.n + k;
      const float d = a.slope[row * a.slope_stride + at];
      sum += d;
      weighted += d * (a.x[row * a.x_stride + at] - a.means.at(part)) * a.inverse(part);
    }
    sum = sum_of(team, sum);
    weighted = sum_of(team, weighted);
    if (team.rank() != 0) return;
    if (a.to_scale != nullptr) a.to_scale[k] = weighted;
    if (a.to_bias != nullptr) a.to_bias[k] = sum;
  }
};

inline const float* row_of(const operand& o) { return o ? o.row<const float>(0) : nullptr; }

/// What parts of which arrays an operator normalises.
template <class Op>
normalise_arguments normalise_of(const call_site& c, const operand& x) {
  normalise_arguments a{};
  a.epsilon = static_cast<float>(c.number(0));
  a.x = row_of(x);
  a.x_stride = x.stride;
  a.scale = row_of(c.input(1));
  if constexpr (__is_same(Op, layer_norm)) {
    const normalised_parts parts(c, x);
    a.rows = parts.rows;
    a.outer = divider(parts.outer);
    a.n = parts.n;
  } else {
    constexpr bool instance = __is_same(Op, instance_norm);
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
  static void launch(Backend& b, const call_site& c) {
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
  static void launch(Backend& b, const call_site& c) {
    const operand x = c.input(0), slope = c.input(4), dx = c.output(0);
    const operand dscale = c.output(1), dbias = c.output(2);
    auto a = normalise_of<Op>(c, x);
    a.slope = row_of(slope);
    a.slope_stride = slope.stride;
    a.means = part_numbers(c.input(2));
    a.spreads = part_numbers(c.input(3));
    if (dx) {
      a.to = dx.template row<float>(0);
      a.to_stride = dx.stride;
      run_lines<normalise_slope_lines>(b, a, a.rows * a.outer.divisor(), a.n, false);
    }
    if (!dscale && !dbias) return;
    a.to_scale = dscale ? dscale.template row<float>(0) : nullptr;
    a.to_bias = dbias ? dbias.template row<float>(0) : nullptr;
    const bool by_channel = a.of_part > 0;
    run_lines<normalise_number_lines>(b, a, by_channel ? a.of_part * a.outer.divisor() : a.n,
                                      a.rows * (by_channel ? a.size.divisor() : a.outer.divisor()),
                                      !by_channel);
  }
};

}  // namespace detail

template <>
struct call_kernel<layer_norm> : detail::normalise_kernel<layer_norm> {};
template <>
struct call_kernel<group_norm> : detail::normalise_kernel<group_norm> {};
template <>
struct call_kernel<instance_norm> : detail::normalise_kernel<instance_norm> {};
template <>
struct call_kernel<gradient_of<layer_norm>> : detail::normalise_gradient_kernel<layer_norm> {};
template <>
struct call_kernel<gradient_of<group_norm>> : detail::normalise_gradient_kernel<group_norm> {};
template <>
struct call_kernel<gradient_of<instance_norm>> : detail::normalise_gradient_kernel<instance_norm> {
};

}  // namespace lamina::engine::cuda
