// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/norm_kernels.hpp - layer_norm, norm, clip_by_norm.
#pragma once

#include <cmath>

#include <lamina/engine/call/normalised_parts.hpp>
#include <lamina/engine/cpu/row_math.hpp>
#include <lamina/operators/clip.hpp>
#include <lamina/operators/norm.hpp>

namespace lamina::engine::cpu {

namespace detail {

/// The number of part o of row r, in an array of one number a part, whatever its shape.
inline float& part_number(const operand& o, int outer, int r, int part) {
  const std::ptrdiff_t i = static_cast<std::ptrdiff_t>(r) * outer + part;
  return o.row<float>(static_cast<int>(i / o.columns))[i % o.columns];
}

}  // namespace detail

template <>
struct call_kernel<layer_norm> {
  template <class = void>
  static void run(const call_context& c) {
    const operand in = c.input(0), scale = c.input(1), bias = c.input(2);
    const operand out = c.output(0), means = c.output(1), variances = c.output(2);
    require_float(c, in);
    const normalised_parts parts(c, in);
    const int n = parts.n;
    const float epsilon = static_cast<float>(c.number(0));
    const float* factor = scale ? scale.row<const float>(0) : nullptr;
    const float* shift = bias ? bias.row<const float>(0) : nullptr;
    for (int r = 0; r < parts.rows; ++r)
      for (int o = 0; o < parts.outer; ++o) {
        const float* x = in.row<const float>(r) + o * n;
        const float mean = row_sum(x, n) / static_cast<float>(n);
        const float variance = squared_distance(x, mean, n) / static_cast<float>(n);
        const float inverse = 1 / std::sqrt(variance + epsilon);
        if (means) detail::part_number(means, parts.outer, r, o) = mean;
        if (variances) detail::part_number(variances, parts.outer, r, o) = variance;
        if (!out) continue;
        float* y = out.row<float>(r) + o * n;
        for_each_place(n, [&](std::ptrdiff_t j, auto like) {
          using number = decltype(like);
          number v = (load(x + j, like) - number(mean)) * number(inverse);
          if (factor != nullptr) v *= load(factor + j, like);
          if (shift != nullptr) v += load(shift + j, like);
          store(y + j, v);
        });
      }
  }
};

template <>
struct call_kernel<gradient_of<layer_norm>> {
  template <class = void>
  static void run(const call_context& c) {
    const operand in = c.input(0), scale = c.input(1), means = c.input(2), variances = c.input(3),
                  slope = c.input(4);
    const operand dx = c.output(0), dscale = c.output(1), dbias = c.output(2);
    const normalised_parts parts(c, in);
    const int n = parts.n;
    const float epsilon = static_cast<float>(c.number(0));
    const float* factor = scale ? scale.row<const float>(0) : nullptr;
    if (dscale) clear(dscale);
    if (dbias) clear(dbias);
    float* const ds = dscale ? dscale.row<float>(0) : nullptr;
    float* const db = dbias ? dbias.row<float>(0) : nullptr;
    for (int r = 0; r < parts.rows; ++r)
      for (int o = 0; o < parts.outer; ++o) {
        const float* x = in.row<const float>(r) + o * n;
        const float* d = slope.row<const float>(r) + o * n;
        const float mean = detail::part_number(means, parts.outer, r, o);
        const float inverse =
            1 / std::sqrt(detail::part_number(variances, parts.outer, r, o) + epsilon);
        const auto h = [&](std::ptrdiff_t j, auto like) {
          using number = decltype(like);
          return number((load(x + j, like) - number(mean)) * number(inverse));
        };
        const auto g = [&](std::ptrdiff_t j, auto like) {
          const auto v = load(d + j, like);
          return factor != nullptr ? decltype(v)(v * load(factor + j, like)) : v;
        };
        vector sums(0.f), products(0.f);
        float sum_g = 0, sum_gh = 0;
        for_each_place(n, [&](std::ptrdiff_t j, auto like) {
          const auto hj = h(j, like);
          const auto gj = g(j, like);
          if constexpr (__is_same(decltype(like), float)) {
            sum_g += gj;
            sum_gh += gj * hj;
          } else {
            sums += gj;
            products += gj * hj;
          }
          if (ds != nullptr)
            store(ds + j, decltype(like)(load(ds + j, like) + load(d + j, like) * hj));
          if (db != nullptr) store(db + j, decltype(like)(load(db + j, like) + load(d + j, like)));
        });
        if (!dx) continue;
        const float mean_g = (sum_g + sum_of(sums)) / static_cast<float>(n);
        const float mean_gh = (sum_gh + sum_of(products)) / static_cast<float>(n);
        float* to = dx.row<float>(r) + o * n;
        for_each_place(n, [&](std::ptrdiff_t j, auto like) {
          using number = decltype(like);
          store(to + j, number((g(j, like) - number(mean_g) - h(j, like) * number(mean_gh)) *
                               number(inverse)));
        });
      }
  }
};

template <>
struct call_kernel<norm> {
  template <class = void>
  static void run(const call_context& c) {
    const operand in = c.input(0), norms = c.output(0), out = c.output(1);
    require_float(c, in);
    const array_layout shape = layout_of(in);
    const int axis = dimension_of(c, c.integer(0), shape.rank);
    const line_layout from(shape, axis), to(layout_of(out), axis), length(layout_of(norms), axis);
    const float epsilon = static_cast<float>(c.number(1));
    for (int r = 0; r < from.rows; ++r)
      for (int o = 0; o < from.outer; ++o) {
        const float* x = in.row<const float>(0) + from.at(r, o);
        float* y = out.row<float>(0) + to.at(r, o);
        float* size = norms.row<float>(0) + length.at(r, o);
        if (from.inner == 1 && from.step == 1) {
          *size = std::sqrt(dot(x, x, from.n) + epsilon);
          for (int k = 0; k < from.n; ++k) y[k] = x[k] / *size;
          continue;
        }
        for_each_place(from.inner, [&](std::ptrdiff_t i, auto like) {
          using number = decltype(like);
          number square(epsilon);
          for (int k = 0; k < from.n; ++k) {
            const number v = load(x + i + k * from.step, like);
            square += v * v;
          }
          const number whole = math::sqrt(square);
          store(size + i, whole);
          for (int k = 0; k < from.n; ++k)
            store(y + i + k * to.step, number(load(x + i + k * from.step, like) / whole));
        });
      }
  }
};

template <>
struct call_kernel<gradient_of<norm>> {
  template <class = void>
  static void run(const call_context& c) {
    const operand in = c.input(0), norms = c.input(1), slope = c.input(2), dx = c.output(0);
    if (!dx) return;
    const array_layout shape = layout_of(in);
    const int axis = dimension_of(c, c.integer(0), shape.rank);
    const line_layout x_lines(shape, axis), length(layout_of(norms), axis),
        d_lines(layout_of(slope), axis), g_lines(layout_of(dx), axis);
    for (int r = 0; r < x_lines.rows; ++r)
      for (int o = 0; o < x_lines.outer; ++o) {
        const float* x = in.row<const float>(0) + x_lines.at(r, o);
        const float* d = slope.row<const float>(0) + d_lines.at(r, o);
        const float* size = norms.row<const float>(0) + length.at(r, o);
        float* g = dx.row<float>(0) + g_lines.at(r, o);
        if (x_lines.inner == 1 && x_lines.step == 1) {
          const float part = dot(x, d, x_lines.n) / (*size * *size);
          for (int k = 0; k < x_lines.n; ++k) g[k] = (d[k] - x[k] * part) / *size;
          continue;
        }
        for_each_place(x_lines.inner, [&](std::ptrdiff_t i, auto like) {
          using number = decltype(like);
          const number whole = load(size + i, like);
          number product(0.f);
          for (int k = 0; k < x_lines.n; ++k)
            product += load(x + i + k * x_lines.step, like) * load(d + i + k * d_lines.step, like);
          const number part = product / (whole * whole);
          for (int k = 0; k < x_lines.n; ++k)
            store(g + i + k * g_lines.step, number((load(d + i + k * d_lines.step, like) -
                                                    load(x + i + k * x_lines.step, like) * part) /
                                                   whole));
        });
      }
  }
};

template <>
struct call_kernel<clip_to_norm> {
  template <class = void>
  static void run(const call_context& c) {
    const operand in = c.input(0), out = c.output(0);
    require_float(c, in);
    double square = 0;
    for (int r = 0; r < in.rows; ++r)
      square +=
          static_cast<double>(dot(in.row<const float>(r), in.row<const float>(r), in.columns));
    const double most = c.number(0), whole = std::sqrt(square);
    const float factor = whole > most ? static_cast<float>(most / whole) : 1.0f;
    for (int r = 0; r < in.rows; ++r)
      for (int j = 0; j < in.columns; ++j)
        out.row<float>(r)[j] = factor * in.row<const float>(r)[j];
  }
};

}  // namespace lamina::engine::cpu
