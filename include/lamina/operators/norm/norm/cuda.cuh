// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/norm/cuda.cuh - normalisation of vectors along one dimension to length 1.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/axis_lines.cuh>
#include <lamina/engine/cuda/body/bound_kernel.cuh>
#include <lamina/operators/norm/norm/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

struct axis_norm_kernel : kernel_call {
  const float* x = input(0).row<const float>(0);
  float *to = output(1).row<float>(0), *size = output(0).row<float>(0);
  axis_lines<3> of{*call, integer(0), {input(0), output(1), output(0)}};
  float epsilon = real(1);
  int lines = of.firsts.count, width = of.n;
  bool side_by_side = of.side_by_side;

  template <class Team>
  LAMINA_INLINE LAMINA_FN void line(int i, const Team& team) const {
    const auto at = of.firsts.at(i);
    const float* const from = x + at.of[0];
    float* const y = to + at.of[1];
    double square = 0;  // double represents the square of any float
    // The loops are not unrolled, because unrolled loops would need more registers than a thread
    // has.
    LAMINA_CUDA_KEEP_LOOP
    for (int k = team.rank(); k < of.n; k += team.size()) {
      const double v = static_cast<double>(from[k * of.step[0]]);
      square += v * v;
    }
    const float length =
        static_cast<float>(math::sqrt(sum_of(team, square) + static_cast<double>(epsilon)));
    const float divisor = length == 0 ? 1.0f : length;
    LAMINA_CUDA_KEEP_LOOP
    for (int k = team.rank(); k < of.n; k += team.size())
      y[k * of.step[1]] = from[k * of.step[0]] / divisor;
    if (team.rank() == 0) size[at.of[2]] = length;
  }
};

/// dx = (d - x (x . d) / size^2) / size. A vector of length 0 has no direction: its gradient is 0.
struct axis_norm_grad_kernel : kernel_call {
  const float *x = input(0).row<const float>(0), *size = input(1).row<const float>(0);
  const float* d = input(2).row<const float>(0);
  float* dx = output(0).row<float>(0);
  axis_lines<4> of{*call, integer(0), {input(0), output(0), input(1), input(2)}};
  int lines = of.firsts.count, width = of.n;
  bool side_by_side = of.side_by_side;

  template <class Team>
  LAMINA_INLINE LAMINA_FN void line(int i, const Team& team) const {
    const auto at = of.firsts.at(i);
    const float *const from = x + at.of[0], *const grad = d + at.of[3];
    float* const to = dx + at.of[1];
    const float length = size[at.of[2]];
    float product = 0;
    for (int k = team.rank(); k < of.n; k += team.size())
      product += from[k * of.step[0]] * grad[k * of.step[3]];
    const float inverse = length == 0 ? 0.0f : 1 / length;
    const float part = sum_of(team, product) * inverse * inverse;
    for (int k = team.rank(); k < of.n; k += team.size())
      to[k * of.step[1]] = (grad[k * of.step[3]] - from[k * of.step[0]] * part) * inverse;
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::norm> : lines_call<detail::axis_norm_kernel> {};
template <>
struct call_kernel<gradient_of<operators::norm>> : lines_call<detail::axis_norm_grad_kernel> {};

}}}  // namespace lamina::engine::cuda
