// SPDX-License-Identifier: Apache-2.0
// lamina/core/checked_index.hpp - the check of an index by arrays that users read.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>

namespace lamina::inline LAMINA_ABI::detail {

/// Whether arrays check their indices. A program that is compiled with NDEBUG, as CMake's Release
/// is, does not check: an index then costs an address.
#ifdef NDEBUG
inline constexpr bool checks_indices = false;
#else
inline constexpr bool checks_indices = true;
#endif

/// Throws lamina::error: index `number` of an array lies outside of a dimension of `size`.
[[noreturn]] LAMINA_COLD inline void fail_index(const char* array, std::size_t number,
                                                std::size_t index, std::size_t size) {
  text message;
  message << "lamina: " << array << ", index " << number << ": ";
  if (size == 0)
    message << "expected elements in this dimension";
  else
    message << "expected 0 to " << size - 1;
  throw error(message << ", found " << static_cast<long long>(index));
}
/// Throws lamina::error: an array got another number of indices than it has dimensions.
[[noreturn]] LAMINA_COLD inline void fail_index_count(const char* array, std::size_t dimensions,
                                                      std::size_t found) {
  throw error(text() << "lamina: " << array << ": expected an index for each of " << dimensions
                     << " dimensions, found " << found);
}

/// An index as a position; negative ones become large and so fail the check.
template <class Index>
constexpr std::size_t checked_index(const char* array, std::size_t number, Index at,
                                    std::size_t size) {
  const std::size_t index = static_cast<std::size_t>(at);
  if constexpr (checks_indices)
    if (index >= size) fail_index(array, number, index, size);
  return index;
}

}  // namespace lamina::inline LAMINA_ABI::detail
