// SPDX-License-Identifier: Apache-2.0
// lamina/operators/update/cuda.cuh - the kernels of optimizer updates. Norms in the update
// equations stay in the memory of the device.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <utility>

#include <lamina/core/numbers/math.hpp>
#include <lamina/engine/cuda/body/element_sum.cuh>
#include <lamina/engine/cuda/body/part_copy.cuh>
#include <lamina/engine/cuda/body/pointwise.cuh>
#include <lamina/optimizer/update_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

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
/// The kernel of an update. Its arguments are the parameter, its gradient, its accumulators and an
/// array with the values of the attributes.
template <class Update>
using update_body =
    typename update_body_of<Update, std::make_integer_sequence<int, Update::states>>::type;

/// The terms of the sum of squares of Update::normed(). Another kernel computes the norm of the
/// parameter.
template <class Update>
struct normed_terms {
  static constexpr int states = Update::states;
  static constexpr int numbers = static_cast<int>(Update::attributes.size());
  const float* of[bound(2 + states)];
  const float* number;
  std::ptrdiff_t stride;
  divider columns;

  LAMINA_INLINE LAMINA_FN double operator()(int i) const {
    const int row = columns.divide(i);
    const std::ptrdiff_t at = row * stride + i;
    float factor[bound(numbers)], state[bound(states)];
    LAMINA_CUDA_UNROLL
    for (int k = 0; k < numbers; ++k) factor[k] = number[k];
    LAMINA_CUDA_UNROLL
    for (int s = 0; s < states; ++s) state[s] = of[2 + s][at];
    return element_square::of(
        static_cast<double>(Update::template normed<float>(of[0][at], of[1][at], state, factor)));
  }
};

/// Copies the values of an update's attributes and appends a norm.
struct norm_result {
  const float* number;
  float* to;
  int numbers, norm;
  LAMINA_INLINE LAMINA_FN void operator()(double squares) const {
    for (int k = 0; norm == 0 && k < numbers; ++k) to[k] = number[k];
    to[numbers + norm] = static_cast<float>(math::sqrt(squares));
  }
};

}  // namespace detail

/// Returns the number of scratch floats that an update of `elements` elements needs.
template <class Update, class Backend>
std::ptrdiff_t update_scratch(int elements) {
  if constexpr (Update::traits::has_norms) {
    using of_param = element_terms<element_square>;
    using of_other = detail::normed_terms<Update>;
    return padded(static_cast<int>(Update::attributes.size()) + 2) +
           (std::max)(sum_scratch<of_param, detail::norm_result, Backend>(elements),
                      sum_scratch<of_other, detail::norm_result, Backend>(elements));
  } else {
    return 0;
  }
}

/// Updates a parameter [rows, columns]. `of` holds the addresses of the parameter, of its gradient
/// and of its accumulators, which all have padded rows, and then of the array with the values of
/// the attributes. `scratch` must be aligned to 8 bytes, because it holds doubles.
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
    constexpr int count = static_cast<int>(Update::attributes.size());
    const int n = rows * columns;
    float *const numbers = scratch, *const rest = scratch + padded(count + 2);
    detail::normed_terms<Update> other{};
    for (int i = 0; i < 2 + states; ++i) other.of[i] = of[i];
    other.number = of[2 + states];
    other.stride = padded(columns);
    other.columns = divider(columns);
    sum_terms(b, n, element_terms<element_square>{of[0], other.stride, other.columns},
              detail::norm_result{other.number, numbers, count, 0}, rest);
    sum_terms(b, n, other, detail::norm_result{other.number, numbers, count, 1}, rest);
    g.of[2 + states] = numbers;
  }
  b.template cells<body>(g);
}

/// Updates a parameter by an equation with norms: the parameter is read twice, for the norms and
/// for the update.
template <class Opt, bool Given>
struct call_kernel<update_operator<Opt, Given>> {
  using update = update_operator<Opt, Given>;
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand param = c.at_position(0);
    if (!param) return;
    // If the array with the attributes' values is absent, the caller of the machine computes the
    // update, and the output of this kernel is the gradient.
    if (c.arguments[2 + update::states] == nullptr)
      return copy_elements(b, c.at_position(1), param);
    run_update<update>(b, c.arguments, param.rows, param.columns, c.run.scratch);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    const operand param = c.at_position(0);
    return update_scratch<update, Backend>(param.rows * param.columns);
  }
};

}}}  // namespace lamina::engine::cuda
