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

namespace detail {
template <class T, class>
struct dependent {
  using type = T;
};
}  // namespace detail
/// T, as the type of options in braces that depends on another argument's type. Only so g++ tells
/// of an option that there is none of in a few lines with the name of T: it compares arguments with
/// other parameters while it deduces, and after that it lists all functions of the name.
template <class T, class Other>
using dependent = typename detail::dependent<T, Other>::type;

#if !defined(__clang__)
/// What a function with several overloads declares last, for calls that fit none of them:
/// `no_match<fc_attr> fc(...) = delete`. g++ then tells the options' type in place of all
/// overloads, and prints the line with the declaration, so that a comment there shows a call that
/// fits. clang tells overloads in three lines each, and takes no braces for an ellipsis.
#define LAMINA_NAMES_OPTIONS 1
template <class Options>
struct no_match {};
struct anything {
  template <class... X>
  constexpr anything(const X&...);  // NOLINT: it converts
};
#endif

/// Makes a static_assert depend on a template parameter.
template <class...>
inline constexpr bool never = false;

}  // namespace lamina
