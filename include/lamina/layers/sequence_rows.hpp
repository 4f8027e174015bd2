// SPDX-License-Identifier: Apache-2.0
// lamina/layers/sequence_rows.hpp - checks and changes the row domains in the types of variables,
// for sequence layers.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/messages/check.hpp>
#include <lamina/layers/one_operator.hpp>
#include <lamina/layers/shape.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

namespace detail {

template <class R>
struct parent_rows_of {
  using type = R;
};
template <class R>
requires is_tokens<R>
struct parent_rows_of<R> {
  using type = typename R::parent;
};

template <class R, class V>
struct with_rows_of;
template <class R, class T, class S, int... D>
struct with_rows_of<R, variable<T, S, D...>> {
  using type = variable<T, R, D...>;
};

}  // namespace detail

/// The row domain with one row per sequence of R. If R has no sequences, it is R, so that this
/// mistake gives only one error.
template <class R>
using parent_rows = typename detail::parent_rows_of<R>::type;

/// The handle type V, with row domain R in place of the row domain of V.
template <class R, class V>
using with_rows = typename detail::with_rows_of<R, V>::type;

/// Whether V is the type of a variable with one id per row, that is, of shape [-1, 1] and type
/// int64 or int32.
template <class V>
inline constexpr bool one_id_a_row = false;
template <class R>
inline constexpr bool one_id_a_row<variable<std::int64_t, R, 1>> = true;
template <class R>
inline constexpr bool one_id_a_row<variable<std::int32_t, R, 1>> = true;

}}}  // namespace lamina::layer
