// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/clip/cuda.cuh - clip_by_norm: scales an array down if its L2 norm
// exceeds a limit.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cuda/body/element_sum.cuh>
#include <lamina/engine/cuda/body/recurrent_body.cuh>
#include <lamina/operators/elementwise/clip/definition.hpp>
#include <lamina/optimizer/clip.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Computes the scale factor from the sum of squares, a double because it may exceed the range of a
/// float.
struct norm_scale_lines {
  struct arguments {
    const double* squares;
    float* to;
    float limit;
    int lines, width, count;
  };
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int, const Team& team) {
    if (team.rank() == 0) *a.to = optimizer::shared_scale(*a.squares, a.limit);
  }
};

struct scaled_body {
  struct arguments {
    row_array from, to;
    divider columns;
    const float* scale;
    int count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const int row = a.columns.divide(i);
    a.to.row(row)[i] = *a.scale * a.from.row(row)[i];
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::clip_to_norm> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), out = c.output(0);
    require_float(c, x);
    double* const squares = reinterpret_cast<double*>(c.run.scratch);
    float* const factor = c.run.scratch + 2;
    const int n = x.rows * x.columns;
    sum_terms(b, n, terms{x.row<const float>(0), x.stride, divider(x.columns)}, all_reduce{squares},
              c.run.scratch + found);
    b.template lines<team_lines<detail::norm_scale_lines>>(
        {squares, factor, static_cast<float>(c.number(0)), 1, 1, 1});
    b.template elements<detail::scaled_body>({x, out, divider(x.columns), factor, n});
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    const operand x = c.input(0);
    return found + sum_scratch<terms, all_reduce, Backend>(x.rows * x.columns);
  }

 private:
  using terms = element_terms<element_square>;
  static constexpr int found = 4;  // floats that hold the sum and the factor
};

}}}  // namespace lamina::engine::cuda
