// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/lrn/cuda.cuh - local response normalisation.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/channel_position.cuh>
#include <lamina/engine/cuda/body/recurrent_body.cuh>
#include <lamina/operators/norm/lrn/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

struct lrn_arguments {
  row_array x, y, middle, d, dx;
  divider columns, size;  // division by the columns of a row and the elements of a channel
  int n, channels;
  float k, alpha, beta;
  int count;
};

struct lrn_body {
  using arguments = lrn_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const channel_position to(a.columns, a.size, i);
    const int r = to.row, at = to.at, j = to.inside, size = a.size.divisor();
    const channels_around nearby(to.channel, a.n, a.channels);
    const float* const x = a.x.row(r);
    float sum = 0;
    for (int m = nearby.first; m < nearby.end; ++m) {
      const float v = x[m * size + j];
      sum += v * v;
    }
    const float whole = a.k + a.alpha * sum;
    if (a.middle) a.middle.row(r)[at] = whole;
    if (a.y) a.y.row(r)[at] = whole == 0 ? 0.0f : x[at] * math::pow(whole, -a.beta);
  }
};
struct lrn_grad_body {
  using arguments = lrn_arguments;
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const channel_position to(a.columns, a.size, i);
    const int r = to.row, at = to.at, j = to.inside, size = a.size.divisor();
    const channels_around nearby(to.channel, a.n, a.channels, true);
    float sum = 0;
    for (int m = nearby.first; m < nearby.end; ++m) {
      const int p = m * size + j;
      const float whole = a.middle.row(r)[p];
      sum += whole == 0 ? 0.0f : a.d.row(r)[p] * a.y.row(r)[p] / whole;
    }
    // If k and all neighbours are 0, the power is infinite, and the element gets the gradient 0.
    const float own = a.middle.row(r)[at];
    a.dx.row(r)[at] = a.d.row(r)[at] * (own == 0 ? 0.0f : math::pow(own, -a.beta)) -
                      2 * a.alpha * a.beta * a.x.row(r)[at] * sum;
  }
};

inline lrn_arguments lrn_of(const call_context& c) {
  const operand x = c.input(0);
  require_float(c, x);
  lrn_arguments a{};
  a.x = x;
  a.columns = divider(x.columns);
  a.channels = x.dims[1];
  a.size = divider(x.columns / a.channels);
  a.n = c.integer(0);
  a.k = static_cast<float>(c.number(1));
  a.alpha = static_cast<float>(c.number(2));
  a.beta = static_cast<float>(c.number(3));
  a.count = x.rows * x.columns;
  return a;
}

}  // namespace detail

template <>
struct call_kernel<operators::lrn> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    auto a = detail::lrn_of(c);
    a.y = c.output(0);
    a.middle = c.output(1);
    b.template elements<detail::lrn_body>(a);
  }
};
template <>
struct call_kernel<gradient_of<operators::lrn>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    auto a = detail::lrn_of(c);
    a.y = c.input(1);
    a.middle = c.input(2);
    a.d = c.input(3);
    a.dx = c.output(0);
    if (a.dx) b.template elements<detail::lrn_grad_body>(a);
  }
};

}}}  // namespace lamina::engine::cuda
