// SPDX-License-Identifier: Apache-2.0
// lamina/core/compile_time/fixed_string.hpp - a string literal that can be a template argument.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>

#include <lamina/core/messages/check.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The characters of a string literal as a value: `template <fixed_string Name>` takes `"image"`.
template <std::size_t N>
struct fixed_string {
  char text[N]{};

  constexpr fixed_string() = default;
  constexpr fixed_string(
      const char (&literal)[N]) {  // NOLINT: implicit, so that a literal converts
    for (std::size_t i = 0; i < N; ++i) text[i] = literal[i];
  }
  /// Reports a name that is not a literal, such as one that is known only at run time, with a short
  /// error.
  template <class Other>
  requires(!std::is_array_v<Other> &&
           std::is_convertible_v<
               const Other&,
               std::string_view>) constexpr fixed_string(const Other&) {  // NOLINT: it converts
    static_assert(check<never<Other>, gets_type<Other>>,
                  "lamina: name: expected a string literal, as in feed<\"x\">, or a constexpr "
                  "array of characters");
    text[N - 1] = 1;
  }
  /// Whether this object replaces a name that was not a literal. The error has been reported, so
  /// callers report nothing further.
  constexpr bool is_refused() const { return text[N - 1] != 0; }

  /// Returns the characters without the terminating zero.
  constexpr std::string_view view() const { return {text, N - 1}; }
  constexpr bool operator==(const fixed_string&) const = default;
};

template <class Other>
requires(!std::is_array_v<Other> && std::is_convertible_v<const Other&, std::string_view>)
    fixed_string(const Other&)
->fixed_string<1>;

/// Returns the first text followed by the second.
template <std::size_t N, std::size_t M>
constexpr fixed_string<N + M - 1> concatenated(const fixed_string<N>& first,
                                               const fixed_string<M>& second) {
  fixed_string<N + M - 1> both;
  for (std::size_t i = 0; i + 1 < N; ++i) both.text[i] = first.text[i];
  for (std::size_t i = 0; i < M; ++i) both.text[N - 1 + i] = second.text[i];
  return both;
}

}}  // namespace lamina
