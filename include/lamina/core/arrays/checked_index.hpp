// SPDX-License-Identifier: Apache-2.0
// lamina/core/arrays/checked_index.hpp - index checks for the arrays that users read.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Whether arrays check their indices. A program that is compiled with NDEBUG, as by CMake's build
/// type Release, does not check, so an access takes no longer than with a pointer.
#ifdef NDEBUG
inline constexpr bool checks_indices = false;
#else
inline constexpr bool checks_indices = true;
#endif

/// Throws a lamina::error that says that `index`, the index for dimension `number` of an array, is
/// not below the dimension's `size`.
[[noreturn]] LAMINA_API_COLD void fail_index(const char* array, std::size_t number,
                                             std::size_t index, std::size_t size);
/// Throws a lamina::error that says that the number of indices, `found`, differs from the number of
/// the array's dimensions.
[[noreturn]] LAMINA_API_COLD void fail_index_count(const char* array, std::size_t dimensions,
                                                   std::size_t found);

/// Returns index `at` as a std::size_t; if indices are checked, throws lamina::error unless 0 <= at
/// < size. (The conversion makes negative indices larger than any size.)
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
  LAMINA_THROW error(message << ", found " << static_cast<long long>(index));
}

void fail_index_count(const char* array, std::size_t dimensions, std::size_t found) {
  LAMINA_THROW error(text() << "lamina: " << array << ": expected an index for each of "
                            << dimensions << " dimensions, found " << found);
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::detail
