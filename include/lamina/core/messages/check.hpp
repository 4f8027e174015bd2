// SPDX-License-Identifier: Apache-2.0
// lamina/core/messages/check.hpp - the vocabulary of compile-time error messages. Expected and
// found shapes are types here, because a compiler prints the template arguments of a failed
// static_assert's condition. So the first line of the error shows the expected shape, the found
// shape and the line.
#pragma once

#include <lamina/core/config.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// `static_assert(check<ok, expects<64>, gets<32>>, "lamina: ...")`: if `ok` is false, the
/// compiler's error contains the types after it.
template <bool Ok, class... Facts>
inline constexpr bool check = Ok;

/// The dimensions that the layer, the feed or the parameter needs.
template <int... Dims>
struct expects {};

/// The dimensions that were given.
template <int... Dims>
struct gets {};

/// The line of the user's file that contains the mistake.
template <int>
struct at_line {};

/// expects_type is the type that is needed, and gets_type the type that was given.
template <class...>
struct expects_type {};
template <class...>
struct gets_type {};

/// A name as a pack of characters. clang 14 prints strings in template arguments as numbers, but a
/// pack of characters as letters.
template <char... Letters>
struct named {};

namespace detail {
template <class T, class>
struct dependent {
  using type = T;
};
}  // namespace detail
/// The type T of options in braces, made dependent on the type of another argument. With it, g++
/// reports an unknown option in a few lines with the name of T. Without it, g++ rejects the
/// argument during deduction and lists all overloads of the function.
template <class T, class Other>
using dependent = typename detail::dependent<T, Other>::type;

/// Represents a missing argument.
struct left_out {};

#if !defined(__clang__)
/// The type of the last overload of a function, for calls that fit no other overload:
/// `no_match<fc_attr> fc(...) = delete`. g++ then prints the type of the options instead of all
/// overloads. It also prints the line of this declaration, so that a comment on the line can show a
/// correct call. The overload is not declared for clang, which prints three lines per overload and
/// does not accept options in braces for an ellipsis.
#define LAMINA_NAMES_OPTIONS 1
template <class Options>
struct no_match {};
struct anything {
  template <class... X>
  constexpr anything(const X&...);  // NOLINT: it converts
};
/// The type of a template parameter that accepts any value, even a variable n that is known only at
/// run time, because the constructor does not read the value. With `template <auto...>` instead,
/// g++ would list all overloads for `fc<n>(x)`.
struct any_value {
  template <class X>
  constexpr any_value(const X&) {}  // NOLINT: it converts
};
#endif

/// Is false, but depends on template parameters, so that a static_assert fails only when its
/// template is instantiated.
template <class...>
inline constexpr bool never = false;

}}  // namespace lamina
