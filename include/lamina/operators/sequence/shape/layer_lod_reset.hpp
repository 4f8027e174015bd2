// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/shape/layer_lod_reset.hpp - lod_reset: replaces the sequences of a
// variable.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/sequence_rows.hpp>
#include <lamina/operators/sequence/shape/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The rows of the sequences that lod_reset makes under Name: one row per sequence. The number of
/// sequences follows from the offsets and does not depend on the number of samples.
template <fixed_string Name>
struct regrouped {
  using parent = batch;
  static constexpr domain_kind kind = domain_kind::subset;
  static constexpr auto name = joined(Name, fixed_string("/sequences"));
  static constexpr int lod_level = 0;
};

namespace layer {

/// Options of lod_reset.
struct lod_reset_attr {
  std::string_view name{};
};

namespace detail {

template <int... Offset>
constexpr bool are_offsets() {
  const int at[] = {Offset..., 0};
  bool ascending = sizeof...(Offset) > 0 && at[0] == 0;
  for (std::size_t i = 1; i < sizeof...(Offset); ++i) ascending = ascending && at[i] >= at[i - 1];
  return ascending;
}

/// Whether a variable has integers in one column and no sequences.
template <class V>
inline constexpr bool are_numbers = false;
template <class T, class R, int... D>
inline constexpr bool are_numbers<variable<T, R, D...>> =
    R::lod_level == 0 && (__is_same(T, std::int32_t) || __is_same(T, std::int64_t)) &&
    (has_rows<R> ? (1 * ... * D) == 1 : sizeof...(D) == 1);

template <class Rows, class X>
constexpr with_rows<Rows, X> reset_lod(X x, int like, int target, std::string_view name) {
  using out = with_rows<Rows, X>;
  program_builder& b = *x.builder;
  layer_helper layer(b, "lod_reset", name);
  const out y = layer.template output<out>();
  b.add_operator(schema_of<operators::lod_reset>(), {x.id, like}, {y.id}, target);
  return layer.returns(y);
}

}  // namespace detail

/// Returns the values of x with the rows and sequences of y. x and y may have different row types,
/// and the caller asserts that row i of x belongs to row i of y. If x and y have different numbers
/// of rows, the run fails. Fluid: layers.lod_reset with y.
template <class T, class R, int... D, class U, class S, int... E>
constexpr auto lod_reset(variable<T, R, D...> x, variable<U, S, E...> y,
                         const options<lod_reset_attr, T>& attr = {}, int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  static_assert(
      check<(has_rows<R> && is_tokens<S>), gets_type<in>, gets_type<variable<U, S, E...>>>,
      "lamina: lod_reset: x has rows, and y holds sequences");
  require_one_program(x, y, line);
  return detail::reset_lod<S>(x, y.id, -1, attr.name);
}

/// Divides the rows of x into sequences with the name Name. `offsets` has one integer per row: the
/// first row of each sequence and, last, the number of rows of x. If the offsets do not ascend from
/// 0 to this number, the run fails. Fluid: layers.lod_reset with a y that has no LoD.
template <fixed_string Name, class T, class R, int... D, class U, class S, int... E>
constexpr auto lod_reset(variable<T, R, D...> x, variable<U, S, E...> offsets,
                         const options<lod_reset_attr, T>& attr = {}, int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  using numbers = variable<U, S, E...>;
  static_assert(
      check<(has_rows<R> && detail::are_numbers<numbers>), gets_type<in>, gets_type<numbers>>,
      "lamina: lod_reset: x has rows, and the offsets are whole numbers in one column without "
      "sequences");
  require_one_program(x, offsets, line);
  return detail::reset_lod<tokens<Name, regrouped<Name>>>(x, offsets.id, -1, attr.name);
}

/// Divides the rows of x into sequences with the name Name that begin at the rows `Offset...`; the
/// last offset is the number of rows of x. `lod_reset<"halves", 0, 3, 6>(x)` makes two sequences of
/// three rows. The result has rows tokens<Name, regrouped<Name>>. Fluid: layers.lod_reset with
/// target_lod.
template <fixed_string Name, int... Offset, class T, class R, int... D>
constexpr auto lod_reset(variable<T, R, D...> x, const options<lod_reset_attr, T>& attr = {}) {
  static_assert(check<has_rows<R>, gets_type<variable<T, R, D...>>>,
                "lamina: lod_reset: the input has rows");
  static_assert(check<detail::are_offsets<Offset...>(), gets<Offset...>>,
                "lamina: lod_reset: offsets begin with 0 and never descend");
  program_builder& b = *x.builder;
  const int offsets[] = {Offset..., 0};
  const int target =
      b.attribute_list(b.integer_list(offsets, static_cast<int>(sizeof...(Offset))), false);
  return detail::reset_lod<tokens<Name, regrouped<Name>>>(x, -1, target, attr.name);
}

#ifdef LAMINA_NAMES_OPTIONS
template <any_value...>
constexpr no_match<lod_reset_attr> lod_reset(...) = delete;  // call lod_reset(x, y); options: name
#endif

}  // namespace layer
}}  // namespace lamina
