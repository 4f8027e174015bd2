// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/norm_kernels.hpp - normalisation inside of each row: layer_norm, group_norm,
// instance_norm; a part of a row a team.
#pragma once

#include <lamina/core/math.hpp>
#include <lamina/engine/call/normalised_parts.hpp>
#include <lamina/engine/cuda/element_loops.hpp>
#include <lamina/engine/cuda/part_sums.hpp>
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

/// The gradients of scale and bias: a number a channel is a sum over rows and the elements of the
/// channel. Where a part has a number an element, rows are those of all parts.
struct normalise_number_arguments : part_sum_arguments {
  normalise_arguments of;
};
template <bool ByChannel>
struct normalise_number_sums : added_parts<2> {
  using arguments = normalise_number_arguments;

  template <class Walk, class Pack = typename Walk::pack_type>
  static LAMINA_INLINE LAMINA_FN void part(const arguments& a, const Walk& walk, Pack (&found)[2]) {
    Pack sum = filled<Pack>(0.0f), weighted = filled<Pack>(0.0f);
    const normalise_arguments& n = a.of;
    walk.each([&](int row, int column) {
      int part = row, at = column;
      if constexpr (ByChannel) {
        part = row * n.outer.divisor() + walk.channel() / n.of_part;
      } else {
        int outer = row;
        row = n.outer.divide(outer);
        at += outer * n.n;
      }
      const float mean = n.means.at(part), inverse = n.inverse(part);
      const Pack d = load_constant<Pack>(n.slope + row * n.slope_stride + at);
      const Pack x = load_constant<Pack>(n.x + row * n.x_stride + at);
      LAMINA_CUDA_UNROLL
      for (int j = 0; j < Pack::width; ++j) {
        sum.v[j] += d.v[j];
        weighted.v[j] += d.v[j] * (x.v[j] - mean) * inverse;
      }
    });
    found[0] = walk.total(sum);
    found[1] = walk.total(weighted);
  }
  static LAMINA_INLINE LAMINA_FN void finish(const arguments& a, int k, const float (&found)[2]) {
    if (a.of.to_scale != nullptr) a.of.to_scale[k] = found[1];
    if (a.of.to_bias != nullptr) a.of.to_bias[k] = found[0];
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
    const auto sums = number_arguments(a);
    if constexpr (by_channel)
      sum_channels<number_sums>(b, sums, c.run.scratch);
    else
      sum_columns<number_sums>(b, sums, c.run.scratch);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_site& c) {
    const auto s = number_arguments(normalise_of<Op>(c, c.input(0)));
    if constexpr (by_channel)
      return channel_part_floats<number_sums>(s.rows, s.channels, s.size);
    else
      return column_part_floats<number_sums, Backend>(s.rows, s.channels, s.size);
  }

 private:
  static constexpr bool by_channel = !__is_same(Op, layer_norm);
  using number_sums = normalise_number_sums<by_channel>;
  static normalise_number_arguments number_arguments(const normalise_arguments& a) {
    normalise_number_arguments s{};
    s.of = a;
    s.rows = by_channel ? a.rows : a.rows * a.outer.divisor();
    s.channels = by_channel ? a.of_part * a.outer.divisor() : a.n;
    s.size = by_channel ? a.size.divisor() : 1;
    const int together = by_channel ? s.size : a.n;
    s.packs = is_packs(a.x, a.x_stride, together) && is_packs(a.slope, a.slope_stride, together);
    return s;
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
