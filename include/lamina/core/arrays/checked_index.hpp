// SPDX-License-Identifier: Apache-2.0
// lamina/core/arrays/checked_index.hpp - index checks for the arrays that users read.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Whether arrays check their indices. Programs compiled with NDEBUG, as in CMake's Release, do not
/// check, so an index costs only the computation of an address.
#ifdef NDEBUG
inline constexpr bool checks_indices = false;
#else
inline constexpr bool checks_indices = true;
#endif

/// Throws lamina::error because `index`, which is index number `number` of an array, is outside of
/// a dimension of `size`.
[[noreturn]] LAMINA_API_COLD void fail_index(const char* array, std::size_t number,
                                             std::size_t index, std::size_t size);
/// Throws lamina::error because the number of indices differs from the number of the array's
/// dimensions.
[[noreturn]] LAMINA_API_COLD void fail_index_count(const char* array, std::size_t dimensions,
                                                   std::size_t found);

/// Checks an index and returns it as a position. Negative indices become large numbers and
/// therefore fail the check.
template <class Index>
constexpr std::size_t checked_index(const char* array, std::size_t number, Index at,
                                    std::size_t size) {
  const std::size_t index = static_cast<std::size_t>(at);
  if constexpr (checks_indices)
    if (index >= size) fail_index(array, number, index, size);
  return index;
}

#if LAMINA_DEFINES

void fail_index(const char* array, std::size_t number, std::size_t index, std::size_t size) {
  text message;
  message << "lamina: " << array << ", index " << number << ": ";
  if (size == 0)
    message << "expected elements in this dimension";
  else
    message << "expected 0 to " << size - 1;
  throw error(message << ", found " << static_cast<long long>(index));
}

void fail_index_count(const char* array, std::size_t dimensions, std::size_t found) {
  throw error(text() << "lamina: " << array << ": expected an index for each of " << dimensions
                     << " dimensions, found " << found);
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::detail
