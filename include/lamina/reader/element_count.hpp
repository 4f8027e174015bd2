// SPDX-License-Identifier: Apache-2.0
// lamina/reader/element_count.hpp - a number of elements as an argument of a decorator.
#pragma once

#include <lamina/core/config.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace reader {

/// A number of elements, made from any integer type. The class is needed because a parameter of
/// type std::size_t would convert -5 to 2^64 - 5 without an error, and a batch of that size would
/// hold all data at once.
class element_count {
 public:
  template <std::integral T>
  constexpr element_count(T count)  // NOLINT: a number converts
      : value_(sizeof(T) >= sizeof(largest) && count > 0 &&
                       static_cast<std::uint64_t>(count) > static_cast<std::uint64_t>(largest)
                   ? largest
                   : static_cast<std::int64_t>(count)) {}
  // The declaration is on one line, because compilers show the line of the name.
  // clang-format off
  template <class Other>
  requires(!std::integral<Other>)
  element_count(const Other&) = delete;  // expected a whole number of elements
  // clang-format on

  /// Returns the number. Throws lamina::error with the name of the decorator if it is below
  /// `least`.
  std::size_t at_least(std::int64_t least, const char* decorator) const {
    if (value_ < least) fail(least, decorator);
    return static_cast<std::size_t>(value_);
  }

 private:
  static constexpr std::int64_t largest = (std::numeric_limits<std::int64_t>::max)();
  [[noreturn]] LAMINA_API LAMINA_COLD void fail(std::int64_t least, const char* decorator) const;

  std::int64_t value_;
};

#if LAMINA_DEFINES

void element_count::fail(std::int64_t least, const char* decorator) const {
  LAMINA_THROW error(text() << "lamina: reader::" << decorator << ": expected at least " << least
                            << (least == 1 ? " element" : " elements") << ", found " << value_);
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::reader
