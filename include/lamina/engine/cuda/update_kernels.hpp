// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/update_kernels.hpp - updates of optimizers by whole arrays; norms that their
// equations need never leave the place.
#pragma once

#include <utility>

#include <lamina/core/math.hpp>
#include <lamina/engine/cuda/element_sum.hpp>
#include <lamina/engine/cuda/group_body.hpp>
#include <lamina/engine/cuda/part_copy.hpp>
#include <lamina/optimizer/update_operator.hpp>

namespace lamina::engine::cuda {

namespace detail {

template <class Update, class State>
struct update_body_of;
template <class Update, int... S>
struct update_body_of<Update, std::integer_sequence<int, S...>> {
  using statement =
      expression::update<Update, expression::load<0>, expression::load<1>,
                         expression::load<2 + S>..., expression::numbers<2 + Update::states>>;
  using type = pointwise_body<expression::statements<statement>>;
};
/// Arguments: the parameter, its gradient, its accumulators, the numbers.
template <class Update>
using update_body =
    typename update_body_of<Update, std::make_integer_sequence<int, Update::states>>::type;

/// Elements i * part to before (i + 1) * part give two sums of squares: of the parameter, and of
/// what the equation measures besides.
template <class Update>
struct norm_part_lines {
  static constexpr int states = Update::states;
  static constexpr int numbers = static_cast<int>(Update::attributes.size());
  struct arguments {
    const float* of[2 + states];
    const float* number;
    std::ptrdiff_t stride;
    divider columns;
    double* to;
    int elements, part;
    int lines, width, count;
  };
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    const int first = i * a.part, end = a.elements - first < a.part ? a.elements : first + a.part;
    float number[numbers];
    LAMINA_CUDA_UNROLL
    for (int k = 0; k < numbers; ++k) number[k] = a.number[k];
    double of_param = 0, of_other = 0;
    for (int k = first + team.rank(); k < end; k += team.size()) {
      int column = k;
      const int row = a.columns.divide(column);
      const std::ptrdiff_t at = row * a.stride + column;
      float state[at_least_one(states)];
      LAMINA_CUDA_UNROLL
      for (int s = 0; s < states; ++s) state[s] = a.of[2 + s][at];
      const float param = a.of[0][at];
      const double p = static_cast<double>(param);
      const double u =
          static_cast<double>(Update::template normed<float>(param, a.of[1][at], state, number));
      of_param += p * p;
      of_other += u * u;
    }
    of_param = sum_of(team, of_param);
    of_other = sum_of(team, of_other);
    if (team.rank() != 0) return;
    a.to[2 * i] = of_param;
    a.to[2 * i + 1] = of_other;
  }
};

/// The numbers of an update with its two norms, a team each, behind them.
struct norm_lines {
  struct arguments {
    const double* squares;
    const float* number;
    float* to;
    int parts, numbers;
    int lines, width, count;
  };
  template <class Team>
  static LAMINA_INLINE LAMINA_FN void line(const arguments& a, int i, const Team& team) {
    double sum = 0;
    for (int k = team.rank(); k < a.parts; k += team.size()) sum += a.squares[2 * k + i];
    sum = sum_of(team, sum);
    if (team.rank() == 0) a.to[a.numbers + i] = static_cast<float>(math::sqrt(sum));
    for (int k = team.rank(); i == 0 && k < a.numbers; k += team.size()) a.to[k] = a.number[k];
  }
};

}  // namespace detail

/// The floats of memory that an update of so many elements needs.
template <class Update>
constexpr std::ptrdiff_t update_scratch(int elements) {
  if constexpr (Update::traits::has_norms)
    return 4 * element_parts::of(elements) +
           padded(static_cast<int>(Update::attributes.size()) + 2);
  else
    return 0;
}

/// Updates a parameter of rows x columns. `of`: the parameter, its gradient, its accumulators,
/// which all lie in padded rows, and the numbers; `scratch` begins at a multiple of 8 bytes.
template <class Update, class Backend>
void run_update(Backend& b, float* const* of, int rows, int columns, float* scratch) {
  constexpr int states = Update::states;
  using body = detail::update_body<Update>;
  typename body::arguments g{};
  for (int i = 0; i < 3 + states; ++i) g.of[i] = of[i];
  g.rows = 1;
  g.columns = g.width = rows * padded(columns);
  g.channels = 1;
  if constexpr (Update::traits::has_norms) {
    const int n = rows * columns, parts = element_parts::of(n);
    double* const squares = reinterpret_cast<double*>(scratch);
    float* const numbers = scratch + 4 * parts;
    typename detail::norm_part_lines<Update>::arguments a{};
    for (int i = 0; i < 2 + states; ++i) a.of[i] = of[i];
    a.number = of[2 + states];
    a.stride = padded(columns);
    a.columns = divider(columns);
    a.to = squares;
    a.elements = n;
    a.part = a.width = (n + parts - 1) / parts;
    a.lines = a.count = parts;
    b.template lines<team_lines<detail::norm_part_lines<Update>>>(a);
    b.template lines<team_lines<detail::norm_lines>>({squares, of[2 + states], numbers, parts,
                                                      static_cast<int>(Update::attributes.size()),
                                                      2, parts, 2});
    g.of[2 + states] = numbers;
  }
  b.template cells<body>(g);
}

/// An update that needs norms: it goes over the parameter twice.
template <class Opt, bool Given>
struct call_kernel<update_operator<Opt, Given>> {
  using update = update_operator<Opt, Given>;
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_site& c) {
    const operand param = c.at_position(0);
    if (!param) return;
    // Without numbers the update is somebody else's: the gradient itself is wanted.
    if (c.arguments[2 + update::states] == nullptr)
      return copy_elements(b, c.at_position(1), param);
    run_update<update>(b, c.arguments, param.rows, param.columns, c.run.scratch);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_site& c) {
    const operand param = c.at_position(0);
    return update_scratch<update>(param.rows * param.columns);
  }
};

}  // namespace lamina::engine::cuda
