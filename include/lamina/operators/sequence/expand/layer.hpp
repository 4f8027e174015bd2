// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/expand/layer.hpp - sequence_expand: repeats rows or sequences as often
// as the lengths of other sequences say.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/layers/sequence_rows.hpp>
#include <lamina/operators/sequence/expand/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

/// Options of sequence_expand.
struct sequence_expand_attr {
  std::string_view name{};
};

namespace detail {

/// `type` is the row type of the sequences in LoD level L of R. L = 0 is the outermost level, L =
/// -1 the last level, L = -2 the level above it, and so on. If R has no level L, `type` is R.
template <class R, int L>
struct rows_of_level {
  using type = R;
};
template <class R, int L>
requires(is_tokens<R>&& L >= 0 && L + 1 < R::lod_level) struct rows_of_level<R, L>
    : rows_of_level<typename R::parent, L> {
};
template <class R, int L>
requires(is_tokens<R>&& L < 0 && -L <= R::lod_level) struct rows_of_level<R, L>
    : rows_of_level<R, R::lod_level + L> {
};

template <class R, int L>
inline constexpr bool has_level = is_tokens<R>&& L >= -R::lod_level&& L < R::lod_level;

/// The operator's attribute for level L: the level counted from the outermost, or -1 for the last
/// level.
template <class R, int L>
inline constexpr int level_from_above = L < -1 && has_level<R, L> ? R::lod_level + L : L;

/// Whether R is S, or one of the levels above S.
template <class R, class S>
inline constexpr bool are_among = __is_same(R, S);
template <class R, class S>
requires(is_tokens<S> &&
         !__is_same(R, S)) inline constexpr bool are_among<R, S> = are_among<R, typename S::parent>;

template <class Out, class X, class Y>
constexpr Out expand_sequences(X x, Y y, int level, std::string_view name, int line) {
  require_one_program(x, y, line);
  program_builder& b = *x.builder;
  layer_helper layer(b, "sequence_expand", name);
  const Out made = layer.template output<Out>();
  b.add_operator(schema_of<operators::sequence_expand>(), {x.id, y.id}, {made.id},
                 level == -1 ? -1 : b.attribute_list(level));
  return layer.returns(made);
}

}  // namespace detail

/// Repeats row i of x n times, where n is the length of sequence i in LoD level RefLevel of y;
/// level 0 is the outermost, -1 the last. The result has one row for each element of these
/// sequences: a row of y if RefLevel is the last level, else a sequence of the next level. Fluid:
/// layers.sequence_expand of an x without LoD.
template <int RefLevel = -1, class T, class R, int... D, class U, class S, int... E>
constexpr auto sequence_expand(variable<T, R, D...> x, variable<U, S, E...> y,
                               const options<sequence_expand_attr, T>& attr = {},
                               int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  using copies = typename detail::rows_of_level<S, RefLevel>::type;
  constexpr bool level = detail::has_level<S, RefLevel>;
  constexpr bool fits = !level || __is_same(R, parent_rows<copies>);
  static_assert(check<level, gets<RefLevel>, gets_type<variable<U, S, E...>>>,
                "lamina: sequence_expand: y holds sequences and has the level that is asked for");
  static_assert(check<fits, gets_type<in>, expects_type<parent_rows<copies>>>,
                "lamina: sequence_expand: x has one row for each item of the level of y");
  return detail::expand_sequences<with_rows<copies, in>>(
      x, y, detail::level_from_above<S, RefLevel>, attr.name, line);
}

/// Repeats sequence i of x n times, where n is the length of sequence i in LoD level RefLevel of y:
/// `sequence_expand<"hypotheses">(x, y)`. The copies are new sequences with the name Name, one for
/// each element of the sequences of y in this level. Fluid: layers.sequence_expand of an x with
/// LoD; there, the result does not have the levels of y.
template <fixed_string Name, int RefLevel = -1, class T, class R, int... D, class U, class S,
          int... E>
constexpr auto sequence_expand(variable<T, R, D...> x, variable<U, S, E...> y,
                               const options<sequence_expand_attr, T>& attr = {},
                               int line = __builtin_LINE()) {
  using in = variable<T, R, D...>;
  using copies = typename detail::rows_of_level<S, RefLevel>::type;
  constexpr bool level = detail::has_level<S, RefLevel>;
  constexpr bool fits = !level || (is_tokens<R> && __is_same(parent_rows<R>, parent_rows<copies>));
  static_assert(check<level, gets<RefLevel>, gets_type<variable<U, S, E...>>>,
                "lamina: sequence_expand: y holds sequences and has the level that is asked for");
  static_assert(
      check<fits, gets_type<in>, expects_type<parent_rows<copies>>>,
      "lamina: sequence_expand: x has one sequence for each item of the level of y; leave "
      "the name out to repeat rows");
  using out = with_rows<tokens<Name, copies>, in>;
  constexpr bool made = !level || !fits || !detail::are_among<tokens<Name, copies>, S>;
  static_assert(check<made, gets_type<tokens<Name, copies>>, gets_type<variable<U, S, E...>>>,
                "lamina: sequence_expand: the copies are sequences of their own: y has this name "
                "at this level");
  return detail::expand_sequences<out>(x, y, detail::level_from_above<S, RefLevel>, attr.name,
                                       line);
}

}}}  // namespace lamina::layer
