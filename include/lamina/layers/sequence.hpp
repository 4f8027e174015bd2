// SPDX-License-Identifier: Apache-2.0
// lamina/layers/sequence.hpp - data layers of sequences that a user feeds.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/messages/check.hpp>
#include <lamina/layers/data.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The row domain of nested_sequence<Name>: one row per element of the inner sequences. Its parent,
/// `nested_tokens<Name>::parent`, has one row per inner sequence.
template <fixed_string Name>
using nested_tokens = tokens<Name, tokens<concatenated(Name, fixed_string("/sequences"))>>;

namespace layer {

namespace detail {
template <fixed_string Name, element T, class R, int... Dims>
constexpr auto feed_sequence(const block& main, int line) {
  static_assert(((Dims > 0) && ...), "lamina: sequence: dimensions are positive");
  if constexpr (sizeof...(Dims) == 0)
    return feed_variable<Name, T, R, 1>(main, line);
  else
    return feed_variable<Name, T, R, Dims...>(main, line);
}
}  // namespace detail

/// Makes an input with one sequence per sample; a sequence may have any length, including 0.
/// `sequence<"words", std::int64_t>(main)` has the rows tokens<"words">. Each element is an array
/// of dimensions Dims; without dimensions, it is one number. Fluid: layers.data(lod_level=1).
template <fixed_string Name, class T, int... Dims>
constexpr auto sequence(const block& main, int line = __builtin_LINE()) {
  static_assert(check<element<T>, gets_type<T>>,
                "lamina: data: elements are float, double, bool or std::int64_t and its kind");
  return detail::feed_sequence<Name, detail::element_or_float<T>, tokens<Name>, Dims...>(main,
                                                                                         line);
}

/// Makes an input whose sequences have the lengths of the sequences of `like`: `sequence<"tags",
/// std::int64_t>(words)` has the rows of `words`. At run time, feeding sequences of other lengths
/// throws lamina::error.
template <fixed_string Name, class T, int... Dims, class U, class R, int... E>
constexpr auto sequence(variable<U, R, E...> like, int line = __builtin_LINE()) {
  static_assert(check<is_tokens<R>, gets_type<variable<U, R, E...>>>,
                "lamina: sequence: the variable whose lengths are to be used holds sequences");
  block main{like.builder, 0};
  static_assert(check<element<T>, gets_type<T>>,
                "lamina: data: elements are float, double, bool or std::int64_t and its kind");
  return detail::feed_sequence<Name, detail::element_or_float<T>, R, Dims...>(main, line);
}

/// Makes an input with one sequence of sequences per sample, such as the words of the sentences of
/// a document. Its rows are nested_tokens<Name>. Fluid: layers.data(lod_level=2).
template <fixed_string Name, class T, int... Dims>
constexpr auto nested_sequence(const block& main, int line = __builtin_LINE()) {
  static_assert(check<element<T>, gets_type<T>>,
                "lamina: data: elements are float, double, bool or std::int64_t and its kind");
  return detail::feed_sequence<Name, detail::element_or_float<T>, nested_tokens<Name>, Dims...>(
      main, line);
}

}  // namespace layer
}}  // namespace lamina
