// SPDX-License-Identifier: Apache-2.0
// lamina/operators/update/step/cuda.cuh - kernels that compute the values that change from step to
// step in optimizer updates, for programs that train themselves.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>

#include <lamina/engine/cuda/body/element_loops.cuh>
#include <lamina/engine/cuda/body/element_sum.cuh>
#include <lamina/engine/cuda/memory/selected_rows.cuh>
#include <lamina/optimizer/clip.hpp>
#include <lamina/optimizer/step_operators.hpp>
#include <lamina/plan/plan_operators.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// Computes the learning rate of a step on the host, which keeps its own counter of steps, so that
/// it need not read the counter on the device.
template <>
struct call_kernel<operators::decayed_learning_rate> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    std::int64_t& step = c.run.reader->count(c.run.reader->machine, c.input(0).data);
    ++step;
    const float rate = optimizer::rate_of_step(
        step, [&](int i) { return c.number(i); }, c.list_size(13),
        [&](int i) { return c.integer_at(12, i); }, [&](int i) { return c.real_at(13, i); });
    fill(b, c.output(0), static_cast<double>(rate));
    fill(b, c.output(1), static_cast<double>(step));
  }
};

namespace detail {

/// Computes the factor of gradient clipping from the sums of the squares of all gradients.
struct gradient_scale_lines {
  struct arguments {
    const double* squares;
    float* to;
    int gradients;
    float limit;
    bool global;
    int lines, width, count;
  };
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int, const Team& team) {
    double squares = 0;
    float norm = 0;
    for (int i = team.rank(); i < a.gradients; i += team.size()) {
      norm = static_cast<float>(math::sqrt(a.squares[i]));
      squares += static_cast<double>(norm) * static_cast<double>(norm);
    }
    squares = sum_of(team, squares);
    if (team.rank() == 0)
      *a.to = a.global ? optimizer::shared_scale(squares, a.limit)
                       : optimizer::norm_scale(norm, a.limit);
  }
};

struct update_numbers_body {
  static constexpr int most = 32;
  struct arguments {
    float number[most];
    const float *rate, *scale;  // null if no operator computes it
    float* to;
    int count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    float x = a.number[i];
    if (i == 0 && a.rate != nullptr) x *= *a.rate;
    if (i == 1 && a.scale != nullptr) x = *a.scale;
    a.to[i] = x;
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::gradient_scale> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const int n = c.input_count(0);
    double* const squares = reinterpret_cast<double*>(c.run.scratch);
    for (int i = 0; i < n; ++i) {
      const operand g = c.input(0, i);
      const bool selects = has_selected_rows(g);
      const terms of{selects ? rows_of(g).values : static_cast<const float*>(g.data),
                     selects ? padded(g.columns) : g.stride, divider(g.columns)};
      sum_terms(b, (selects ? rows_of(g).count : g.rows) * g.columns, of, all_reduce{squares + i},
                c.run.scratch + squares_of(n));
    }
    b.template lines<team_lines<detail::gradient_scale_lines>>(
        {squares, static_cast<float*>(c.output(0).data), n, static_cast<float>(c.number(0)),
         c.flag(1), 1, n, 1});
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    std::ptrdiff_t most = 0;
    for (int i = 0; i < c.input_count(0); ++i) {
      const operand g = c.input(0, i);
      const int rows = g && has_selected_rows(g) ? rows_of(g).capacity : g.rows;
      most = (std::max)(most, sum_scratch<terms, all_reduce, Backend>(rows * g.columns));
    }
    return squares_of(c.input_count(0)) + most;
  }

 private:
  using terms = element_terms<element_square>;
  static std::ptrdiff_t squares_of(int gradients) { return padded(2 * gradients); }
};

template <>
struct call_kernel<operators::update_numbers> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    using body = detail::update_numbers_body;
    const operand out = c.output(0);
    body::arguments a{};
    if (out.columns > body::most)
      fail(c, {"expected at most ", body::most, " numbers, found ", out.columns});
    for (int i = 0; i < out.columns; ++i) a.number[i] = static_cast<float>(c.number(i));
    a.rate = static_cast<const float*>(c.input(0).data);
    a.scale = static_cast<const float*>(c.input(1).data);
    a.to = static_cast<float*>(out.data);
    a.count = out.columns;
    b.template elements<body>(a);
  }
};

}}}  // namespace lamina::engine::cuda
