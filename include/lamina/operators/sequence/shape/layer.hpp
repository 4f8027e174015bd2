// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/shape/layer.hpp - layers that concatenate, slice, reshape and reverse
// sequences, and that set their lengths: lod_reset, lod_append.
#pragma once

#include <lamina/core/config.hpp>

#include <tuple>

#include <lamina/layers/sequence_rows.hpp>
#include <lamina/operators/sequence/shape/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of sequence_concat.
struct sequence_concat_attr {
  std::string_view name{};
};

/// Returns sequences: sequence i consists of sequence i of the first input, then sequence i of the
/// second input, and so on: `sequence_concat<"both">(std::tuple{titles, bodies})`. The result has
/// new sequences with the name Name. All inputs must have the same element type and the same
/// dimensions, and their sequences must have the same parent rows. Fluid: layers.sequence_concat.
template <fixed_string Name, class First, class... More>
constexpr auto sequence_concat(std::tuple<First, More...> inputs,
                               const options<sequence_concat_attr, First>& attr = {},
                               int line = __builtin_LINE()) {
  using rows = typename First::rows_type;
  using parent = parent_rows<rows>;
  constexpr bool fits = is_tokens<rows> && (is_tokens<typename More::rows_type> && ...) &&
                        (__is_same(with_rows<parent_rows<typename More::rows_type>, More>,
                                   with_rows<parent, First>) &&
                         ...);
  static_assert(
      check<fits, expects_type<First>, gets_type<More...>>,
      "lamina: sequence_concat: the inputs are sequences of the same rows, of one shape and "
      "type");
  using out = with_rows<tokens<Name, parent>, First>;
  program_builder& b = *std::get<0>(inputs).builder;
  int ids[1 + sizeof...(More)];
  int n = 0;
  std::apply(
      [&](auto... x) {
        (require_one_program(std::get<0>(inputs), x, line), ...);
        ((ids[n++] = x.id), ...);
      },
      inputs);
  layer_helper layer(b, "sequence_concat", attr.name);
  const out y = layer.template output<out>();
  detail::add_with_inputs(b, schema_of<operators::sequence_concat>(), ids, n, y.id);
  return layer.returns(y);
}

/// Options of sequence_slice.
struct sequence_slice_attr {
  std::string_view name{};
};

namespace detail {
template <class V>
inline constexpr bool one_whole_number = V::size == 1 &&
                                         (__is_same(typename V::value_type, std::int64_t) ||
                                          __is_same(typename V::value_type, std::int32_t));
}  // namespace detail

/// Returns new sequences with the name Name: sequence i consists of length[i] rows of sequence i of
/// x, from row offset[i] of the sequence on: `sequence_slice<"middle">(x, offset, length)`. Offset
/// and length have one integer per sequence. If a row is not inside its sequence, the run fails.
/// Fluid: layers.sequence_slice.
template <fixed_string Name, class T, class R, int... D, class Offset, class Length>
constexpr auto sequence_slice(variable<T, R, D...> x, Offset offset, Length length,
                              const options<sequence_slice_attr, T>& attr = {},
                              int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  constexpr bool fits = is_tokens<R> && __is_same(typename Offset::rows_type, parent_rows<R>) &&
                        __is_same(typename Length::rows_type, parent_rows<R>) &&
                        detail::one_whole_number<Offset> && detail::one_whole_number<Length>;
  static_assert(check<fits, gets_type<in, Offset, Length>>,
                "lamina: sequence_slice: the input holds sequences, offset and length one whole "
                "number for each");
  require_one_program(x, offset, line);
  require_one_program(x, length, line);
  using out = with_rows<tokens<Name, parent_rows<R>>, in>;
  program_builder& b = *x.builder;
  layer_helper layer(b, "sequence_slice", attr.name);
  const out y = layer.template output<out>();
  b.add_operator(schema_of<operators::sequence_slice>(), {x.id, offset.id, length.id}, {y.id});
  return layer.returns(y);
}

/// Options of sequence_reshape.
struct sequence_reshape_attr {
  std::string_view name{};
};

/// Rearranges the elements of each sequence into rows of NewDim elements:
/// `sequence_reshape<"pairs", 2>(x)`. A sequence of n rows with Width elements becomes a sequence
/// of n * Width / NewDim rows; the new sequences have the name Name. If this number is not an
/// integer, the run fails. Fluid: layers.sequence_reshape.
template <fixed_string Name, int NewDim, class T, class R, int... D>
constexpr auto sequence_reshape(variable<T, R, D...> x,
                                const options<sequence_reshape_attr, T>& attr = {}) {
  constexpr bool fits = is_tokens<R> && sizeof...(D) == 1 && NewDim > 0;
  static_assert(
      check<fits, gets<NewDim>, gets_type<variable<T, R, D...>>>,
      "lamina: sequence_reshape: the input holds sequences of rows with one dimension, the "
      "new one is positive");
  using out = variable<T, tokens<Name, parent_rows<R>>, (NewDim > 0 ? NewDim : 1)>;
  program_builder& b = *x.builder;
  layer_helper layer(b, "sequence_reshape", attr.name);
  const out y = layer.template output<out>();
  b.add_operator(schema_of<operators::sequence_reshape>(), {x.id}, {y.id},
                 b.attribute_list(NewDim));
  return layer.returns(y);
}

/// Options of sequence_reverse.
struct sequence_reverse_attr {
  std::string_view name{};
};

/// Returns the rows of each sequence in reverse order. If x has nested sequences, the rows of each
/// innermost sequence are reversed. Fluid: layers.sequence_reverse.
template <class T, class R, int... D>
constexpr auto sequence_reverse(variable<T, R, D...> x,
                                const options<sequence_reverse_attr, T>& attr = {}) {
  static_assert(check<is_tokens<R>, gets_type<variable<T, R, D...>>>,
                "lamina: sequence_reverse: the rows of the input form sequences");
  return detail::same_shape<operators::sequence_reverse>(x, "sequence_reverse", attr.name);
}

}}}  // namespace lamina::layer

namespace lamina { inline namespace LAMINA_ABI {

/// The rows of the sequences that lod_reset makes under Name: one row per sequence. The number of
/// sequences follows from the offsets and does not depend on the number of samples.
template <fixed_string Name>
struct regrouped {
  using parent = batch;
  static constexpr domain_kind kind = domain_kind::subset;
  static constexpr auto name = concatenated(Name, fixed_string("/sequences"));
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

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of lod_append.
struct lod_append_attr {
  std::string_view name{};
};

namespace detail {

template <fixed_string Name, class T, class R, int... D>
constexpr auto append_lod(variable<T, R, D...> x, int offsets, attribute_value target,
                          std::string_view name) {
  using out = variable<T, tokens<Name, R>, D...>;
  program_builder& b = *x.builder;
  layer_helper layer(b, "lod_append", name);
  const out y = layer.template output<out>();
  b.add_operator(schema_of<operators::lod_reset>(), {x.id, offsets}, {y.id},
                 b.attribute_list(target, true));
  return layer.returns(y);
}

}  // namespace detail

/// Divides the n rows of x into n sequences with the name Name, one sequence for each row of R, so
/// that the result has rows tokens<Name, R>. `offsets` has n + 1 integers in one column: the first
/// row of each sequence and, last, n. If their number is not n + 1, or if they do not ascend from 0
/// to n, the run fails. Fluid: layers.lod_append.
template <fixed_string Name, class T, class R, int... D, class U, class S, int... E>
constexpr auto lod_append(variable<T, R, D...> x, variable<U, S, E...> offsets,
                          const options<lod_append_attr, T>& attr = {},
                          int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  using numbers = variable<U, S, E...>;
  static_assert(
      check<(has_rows<R> && detail::are_numbers<numbers>), gets_type<in>, gets_type<numbers>>,
      "lamina: lod_append: x has rows, and the offsets are whole numbers in one column without "
      "sequences");
  require_one_program(x, offsets, line);
  return detail::append_lod<Name>(x, offsets.id, {0, 0, 0}, attr.name);
}

/// A lod_append with constant offsets: `lod_append<"parts", 0, 2, 2, 3>(x)` divides three rows into
/// a sequence of two rows, an empty sequence and a sequence of one row.
template <fixed_string Name, int... Offset, class T, class R, int... D>
constexpr auto lod_append(variable<T, R, D...> x, const options<lod_append_attr, T>& attr = {}) {
  static_assert(check<has_rows<R>, gets_type<variable<T, R, D...>>>,
                "lamina: lod_append: the input has rows");
  static_assert(check<detail::are_offsets<Offset...>(), gets<Offset...>>,
                "lamina: lod_append: offsets begin with 0 and never descend");
  const int offsets[] = {Offset..., 0};
  return detail::append_lod<Name>(
      x, -1, x.builder->integer_list(offsets, static_cast<int>(sizeof...(Offset))), attr.name);
}

}}}  // namespace lamina::layer
