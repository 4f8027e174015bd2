// SPDX-License-Identifier: Apache-2.0
// lamina/core/check.hpp - the words of a compile-time error message.
// Why types: a compiler prints the template arguments of a failed static_assert's condition, so the
// facts of a mistake (what was expected, what was found, where) stand in its first line.
#pragma once

namespace lamina {

/// `static_assert(check<ok, expects<64>, gets<32>>, "lamina: ...")`: the facts appear in the error.
template <bool Ok, class... Facts>
inline constexpr bool check = Ok;

/// What the layer, the feed or the parameter needed: dimensions.
template <int... Dims>
struct expects {};

/// What it was given: dimensions.
template <int... Dims>
struct gets {};

/// The line of the user's file that recorded the mistake.
template <int>
struct at_line {};

/// What was needed and what was given, as types.
template <class...>
struct expects_type {};
template <class...>
struct gets_type {};

/// A name, letter by letter: clang 14 prints strings in template arguments as numbers, but letters
/// of a pack as letters.
template <char... Letters>
struct named {};

/// Makes a static_assert depend on a template parameter.
template <class...>
inline constexpr bool never = false;

}  // namespace lamina
