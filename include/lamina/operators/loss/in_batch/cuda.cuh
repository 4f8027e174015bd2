// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/in_batch/cuda.cuh - in_batch_cross_entropy: classifies each row of a
// mini-batch among all rows of the mini-batch.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/core/numbers/math.hpp>
#include <lamina/engine/cuda/body/element_sum.cuh>
#include <lamina/engine/cuda/body/recurrent_body.cuh>
#include <lamina/operators/loss/in_batch/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

struct all_pairs_arguments {
  row_array x, y, log_sum, out;  // `out` has the costs or their gradients
  row_array to;                  // the gradient of X or of Y
  const std::int64_t* label;     // null: each row is a separate class
  std::ptrdiff_t label_stride;
  int columns;
  int lines, width, count;

  LAMINA_INLINE LAMINA_FN bool is_one_class(int i, int j) const {
    return label == nullptr ? i == j : label[i * label_stride] == label[j * label_stride];
  }
  LAMINA_INLINE LAMINA_FN float score(int i, int j) const {
    const float* const a = x.row(i);
    const float* const b = y.row(j);
    float sum = 0;
    for (int k = 0; k < columns; ++k) sum += a[k] * b[k];
    return sum;
  }
  /// Returns the target probability of a pair with row i: 1 / the number of rows with its label.
  LAMINA_INLINE LAMINA_FN float target(int i) const {
    int equal = 0;
    for (int j = 0; j < lines; ++j) equal += is_one_class(i, j) ? 1 : 0;
    return 1.0f / static_cast<float>(equal);
  }
  /// Returns the gradient of the score of pair (i, j). `target_i` is target(i).
  LAMINA_INLINE LAMINA_FN float grad(int i, int j, float target_i) const {
    const float target = is_one_class(i, j) ? target_i : 0.0f;
    return *out.row(i) * (math::exp(score(i, j) - log_sum.row(i)[0] - log_sum.row(i)[1]) - target);
  }
};

/// One team computes the cost of one row of X.
struct all_pairs_lines {
  using arguments = all_pairs_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    float most = a.score(i, 0), sum = 0, right = 0;
    for (int j = team.rank(); j < a.lines; j += team.size()) {
      const float s = a.score(i, j);
      most = s > most ? s : most;
    }
    most = largest_of(team, most);
    for (int j = team.rank(); j < a.lines; j += team.size()) {
      const float s = a.score(i, j);
      sum += math::exp(s - most);
      if (a.is_one_class(i, j)) right += s;
    }
    sum = sum_of(team, sum);
    right = sum_of(team, right);
    if (team.rank() != 0) return;
    sum = math::log(sum);
    if (a.log_sum) a.log_sum.row(i)[0] = most, a.log_sum.row(i)[1] = sum;
    if (a.out) *a.out.row(i) = sum + (most - right * a.target(i));
  }
};
/// One team computes the gradient of one row of X or, if `Other`, of Y. Each thread of the team
/// computes some of the elements.
template <bool Other>
struct all_pairs_grad_lines {
  using arguments = all_pairs_arguments;
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int r, const Team& team) {
    for (int k = team.rank(); k < a.columns; k += team.size()) a.to.row(r)[k] = 0;
    const float own = a.target(r);  // rows of one class have the same target
    for (int other = 0; other < a.lines; ++other) {
      const float g = Other ? a.grad(other, r, own) : a.grad(r, other, own);
      const float* const from = Other ? a.x.row(other) : a.y.row(other);
      for (int k = team.rank(); k < a.columns; k += team.size()) a.to.row(r)[k] += g * from[k];
    }
  }
};

inline all_pairs_arguments pairs_of(const operand& x, const operand& y, const operand& label) {
  all_pairs_arguments a{};
  a.x = x, a.y = y;
  if (label) a.label = label.row<const std::int64_t>(0), a.label_stride = label.stride;
  a.columns = a.width = x.columns;
  a.lines = a.count = x.rows;
  return a;
}

}  // namespace detail

template <>
struct call_kernel<operators::in_batch_cross_entropy> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0);
    require_float(c, x);
    if (x.rows == 0) return;
    detail::all_pairs_arguments a = detail::pairs_of(x, c.input(1), c.input(2));
    a.log_sum = c.output(0), a.out = c.output(1);
    b.template lines<team_lines<detail::all_pairs_lines>>(a);
  }
};
template <>
struct call_kernel<gradient_of<operators::in_batch_cross_entropy>> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand x = c.input(0), dx = c.output(0), dy = c.output(1);
    if (x.rows == 0) return;
    detail::all_pairs_arguments a = detail::pairs_of(x, c.input(1), c.input(2));
    a.log_sum = c.input(3), a.out = c.input(4);
    a.to = dx;
    if (dx) b.template lines<team_lines<detail::all_pairs_grad_lines<false>>>(a);
    a.to = dy;
    if (dy) b.template lines<team_lines<detail::all_pairs_grad_lines<true>>>(a);
  }
};

}}}  // namespace lamina::engine::cuda
