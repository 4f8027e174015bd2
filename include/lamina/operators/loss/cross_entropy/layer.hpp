// SPDX-License-Identifier: Apache-2.0
// lamina/operators/loss/cross_entropy/layer.hpp - the cost of a classifier that outputs
// probabilities.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/shape.hpp>
#include <lamina/operators/loss/cross_entropy/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of cross_entropy and bpr_loss.
struct cross_entropy_attr {
  int ignore_index = -100;  // rows with this label cost 0
  std::string_view name{};
};

namespace detail {

constexpr extents with_last(extents shape, int last) {
  if (shape.rank > 0) shape.at[shape.rank - 1] = last;
  return shape;
}
template <class V>
inline constexpr extents last_is_one = with_last(whole_shape<V>, 1);

/// The type of a variable with one value per row and the rows and element type of V.
template <class V>
using one_a_row = handle_of<typename V::value_type, typename V::rows_type, last_is_one<V>>;
template <class V>
using label_of = handle_of<std::int64_t, typename V::rows_type, last_is_one<V>>;

template <class In, class Given>
inline constexpr bool hard_labels = whole_shape<In>.rank > 0 && __is_same(Given, label_of<In>);
template <class In, class Given>
inline constexpr bool soft_labels = __is_same(Given, In);

}  // namespace detail

/// Returns -log x[label] for each row x of probabilities, shape [-1, 1]. Labels are int64, one
/// class number per row. If labels have the shape and type of x, they are soft labels, a
/// distribution per row, and the result is -sum label * log x. The logarithm of 0 counts as -1e20.
/// Fluid: cross_entropy.
template <class T, class R, int... D, class L, class S, int... E>
constexpr auto cross_entropy(variable<T, R, D...> x, variable<L, S, E...> label,
                             const options<cross_entropy_attr, T>& attr = {},
                             int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  using given = variable<L, S, E...>;
  constexpr bool soft = detail::soft_labels<in, given>;
  constexpr bool fits = soft || detail::hard_labels<in, given>;
  static_assert(check<fits, gets_type<in>, expects_type<detail::label_of<in>>, gets_type<given>>,
                "lamina: cross_entropy: labels are one int64 per row, or soft labels in the shape "
                "and type of the input");
  require_one_program(x, label, line);
  program_builder& b = *x.builder;
  layer_helper layer(b, "cross_entropy", attr.name);
  const auto y = layer.template output<detail::one_a_row<in>>();
  b.add_operator(schema_of<operators::cross_entropy>(), {x.id, label.id}, {y.id},
                 b.attribute_list(soft, attr.ignore_index));
  return layer.returns(y);
}
#ifdef LAMINA_NAMES_OPTIONS
// clang-format off
constexpr no_match<cross_entropy_attr>
cross_entropy(...) = delete;  // call cross_entropy(x, label)
// clang-format on
#endif

}}}  // namespace lamina::layer
