// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/softmax/cuda.cuh - sequence_softmax: the softmax over the rows of each
// sequence.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/math.hpp>
#include <lamina/engine/cuda/body/element_loops.cuh>
#include <lamina/operators/sequence/cuda.cuh>
#include <lamina/operators/sequence/softmax/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

struct sequence_softmax_lines {
  using arguments = sequence_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int begin = a.all.begin(s) + team.rank(), end = a.all.end(s), step = team.size();
    if (a.all.begin(s) == end) return;
    float most = *a.in[0].row<const float>(a.all.begin(s)), sum = 0;
    for (int r = begin; r < end; r += step) {
      const float v = *a.in[0].row<const float>(r);
      most = v > most ? v : most;
    }
    most = largest_of(team, most);
    for (int r = begin; r < end; r += step)
      sum += *a.out[0].row<float>(r) = math::exp(*a.in[0].row<const float>(r) - most);
    const float factor = 1.0f / sum_of(team, sum);
    for (int r = begin; r < end; r += step) *a.out[0].row<float>(r) *= factor;
  }
};
struct sequence_softmax_grad_lines {
  using arguments = sequence_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int s, const Team& team) {
    const int begin = a.all.begin(s) + team.rank(), end = a.all.end(s), step = team.size();
    float sum = 0;
    for (int r = begin; r < end; r += step)
      sum += math::multiply_no_nan(*a.in[0].row<const float>(r), *a.in[1].row<const float>(r));
    sum = sum_of(team, sum);
    for (int r = begin; r < end; r += step)
      *a.out[0].row<float>(r) =
          math::multiply_no_nan(*a.in[0].row<const float>(r), *a.in[1].row<const float>(r) - sum);
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::sequence_softmax> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0);
    require_float(c, x);
    detail::sequence_arguments a{};
    a.in[0] = view_of_operand(x);
    a.out[0] = c.out(0);
    detail::run_sequences<detail::sequence_softmax_lines>(b, c, a, x.domain, x);
  }
};
template <>
struct call_kernel<gradient_of<operators::sequence_softmax>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand y = c.input(0);
    detail::sequence_arguments a{};
    a.in[0] = view_of_operand(y);
    a.in[1] = c.in(1);
    a.out[0] = c.out(0);
    if (a.out[0]) detail::run_sequences<detail::sequence_softmax_grad_lines>(b, c, a, y.domain, y);
  }
};

}}}  // namespace lamina::engine::cuda
