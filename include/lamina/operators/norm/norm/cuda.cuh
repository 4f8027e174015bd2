// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/norm/cuda.cuh - normalisation of vectors along one dimension to length 1.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/axis_lines.cuh>
#include <lamina/engine/cuda/body/element_loops.cuh>
#include <lamina/operators/norm/norm/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

struct norm_arguments {
  const float* x;
  float *to, *size;
  axis_lines<3> of;  // strides of X, the result, Norm
  float epsilon;
  int lines, width, count;
};

struct axis_norm_lines {
  using arguments = norm_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    const auto at = a.of.firsts.at(i);
    const float* const x = a.x + at.of[0];
    float* const y = a.to + at.of[1];
    double square = 0;  // double represents the square of any float
    // The loops are not unrolled, because unrolled loops would need more registers than a thread
    // has.
    LAMINA_CUDA_KEEP_LOOP
    for (int k = team.rank(); k < a.of.n; k += team.size()) {
      const double v = static_cast<double>(x[k * a.of.step[0]]);
      square += v * v;
    }
    const float size =
        static_cast<float>(math::sqrt(sum_of(team, square) + static_cast<double>(a.epsilon)));
    const float divisor = size == 0 ? 1.0f : size;
    LAMINA_CUDA_KEEP_LOOP
    for (int k = team.rank(); k < a.of.n; k += team.size())
      y[k * a.of.step[1]] = x[k * a.of.step[0]] / divisor;
    if (team.rank() == 0) a.size[at.of[2]] = size;
  }
};

struct norm_grad_arguments {
  const float *x, *d, *size;
  float* to;
  axis_lines<4> of;  // strides of X, dX, Norm, the gradient of Out
  int lines, width, count;
};
/// dx = (d - x (x . d) / size^2) / size. A vector of length 0 has no direction: its gradient is 0.
struct axis_norm_grad_lines {
  using arguments = norm_grad_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    const auto at = a.of.firsts.at(i);
    const float *const x = a.x + at.of[0], *const d = a.d + at.of[3];
    float* const to = a.to + at.of[1];
    const float size = a.size[at.of[2]];
    float product = 0;
    for (int k = team.rank(); k < a.of.n; k += team.size())
      product += x[k * a.of.step[0]] * d[k * a.of.step[3]];
    const float inverse = size == 0 ? 0.0f : 1 / size;
    const float part = sum_of(team, product) * inverse * inverse;
    for (int k = team.rank(); k < a.of.n; k += team.size())
      to[k * a.of.step[1]] = (d[k * a.of.step[3]] - x[k * a.of.step[0]] * part) * inverse;
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::norm> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), size = c.output(0), y = c.output(1);
    require_float(c, x);
    detail::norm_arguments a{};
    a.x = x.row<const float>(0);
    a.to = y.row<float>(0);
    a.size = size.row<float>(0);
    a.of = {c, c.integer(0), {x, y, size}};
    a.epsilon = static_cast<float>(c.number(1));
    run_lines<detail::axis_norm_lines>(b, a, a.of.firsts.count, a.of.n, a.of.side_by_side);
  }
};
template <>
struct call_kernel<gradient_of<operators::norm>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), size = c.input(1), d = c.input(2), dx = c.output(0);
    if (!dx) return;
    detail::norm_grad_arguments a{};
    a.x = x.row<const float>(0);
    a.d = d.row<const float>(0);
    a.size = size.row<const float>(0);
    a.to = dx.row<float>(0);
    a.of = {c, c.integer(0), {x, dx, size, d}};
    run_lines<detail::axis_norm_grad_lines>(b, a, a.of.firsts.count, a.of.n, a.of.side_by_side);
  }
};

}}}  // namespace lamina::engine::cuda
