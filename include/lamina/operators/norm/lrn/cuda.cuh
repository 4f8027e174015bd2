// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/lrn/cuda.cuh - local response normalisation.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/bound_kernel.cuh>
#include <lamina/engine/cuda/body/channel_position.cuh>
#include <lamina/operators/norm/lrn/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

struct lrn_call : kernel_call {
  row_array x = input(0);
  int channels = input(0).dims[1];
  divider columns{input(0).columns}, size{input(0).columns / channels};
  int n = integer(0);
  float k = real(1), alpha = real(2), beta = real(3);
  int count = input(0).rows * input(0).columns;
};

struct lrn_kernel : lrn_call {
  row_array y = output(0), middle = output(1);

  LAMINA_INLINE LAMINA_FN void run(int i) const {
    const channel_position to(columns, size, i);
    const channels_around nearby(to.channel, n, channels);
    const float* const from = x.row(to.row);
    float sum = 0;
    for (int m = nearby.first; m < nearby.end; ++m) {
      const float v = from[m * size.divisor() + to.inside];
      sum += v * v;
    }
    const float whole = k + alpha * sum;
    if (middle) middle.row(to.row)[to.at] = whole;
    if (y) y.row(to.row)[to.at] = whole == 0 ? 0.0f : from[to.at] * math::pow(whole, -beta);
  }
};
struct lrn_grad_kernel : lrn_call {
  row_array y = input(1), middle = input(2), d = input(3), dx = output(0);

  LAMINA_INLINE LAMINA_FN void run(int i) const {
    const channel_position to(columns, size, i);
    const int r = to.row;
    const channels_around nearby(to.channel, n, channels, true);
    float sum = 0;
    for (int m = nearby.first; m < nearby.end; ++m) {
      const int p = m * size.divisor() + to.inside;
      const float whole = middle.row(r)[p];
      sum += whole == 0 ? 0.0f : d.row(r)[p] * y.row(r)[p] / whole;
    }
    // If k and all neighbours are 0, the power is infinite, and the element gets the gradient 0.
    const float own = middle.row(r)[to.at];
    dx.row(r)[to.at] = d.row(r)[to.at] * (own == 0 ? 0.0f : math::pow(own, -beta)) -
                       2 * alpha * beta * x.row(r)[to.at] * sum;
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::lrn> : elements_call<detail::lrn_kernel> {};
template <>
struct call_kernel<gradient_of<operators::lrn>> : elements_call<detail::lrn_grad_kernel> {};

}}}  // namespace lamina::engine::cuda
