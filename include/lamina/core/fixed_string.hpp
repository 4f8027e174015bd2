// SPDX-License-Identifier: Apache-2.0
// lamina/core/fixed_string.hpp - a string literal that can be a template argument.
#pragma once

#include <cstddef>
#include <string_view>

namespace lamina {

/// The characters of a string literal as a value: `template <fixed_string Name>` takes `"image"`.
template <std::size_t N>
struct fixed_string {
  char text[N]{};

  constexpr fixed_string() = default;
  constexpr fixed_string(
      const char (&literal)[N]) {  // NOLINT: implicit, so that a literal converts
    for (std::size_t i = 0; i < N; ++i) text[i] = literal[i];
  }

  /// The characters without the terminating zero.
  constexpr std::string_view view() const { return {text, N - 1}; }
  constexpr bool operator==(const fixed_string&) const = default;
};

}  // namespace lamina
