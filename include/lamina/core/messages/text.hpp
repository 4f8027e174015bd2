// SPDX-License-Identifier: Apache-2.0
// lamina/core/messages/text.hpp - builds texts, such as messages and names, from pieces.
#pragma once

#include <lamina/core/config.hpp>

#include <concepts>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

namespace lamina { inline namespace LAMINA_ABI {

/// Builds text: `throw error(text() << "expected " << 3 << " rows, found " << rows)`. Its members
/// are not inlined, whereas the operators of std::string would be inlined into every message and
/// take most of the compile time of functions that rarely run.
class text {
 public:
  LAMINA_API LAMINA_COLD text();
  LAMINA_API LAMINA_COLD explicit text(std::string_view first);
  text(const text&) = delete;
  text& operator=(const text&) = delete;
  LAMINA_API LAMINA_COLD ~text();

  LAMINA_API LAMINA_COLD text& operator<<(std::string_view piece);
  text& operator<<(const text& other) { return *this << std::string_view(other.all_); }
  template <std::integral T>
  text& operator<<(T number) {
    if constexpr (std::is_signed_v<T>)
      return signed_number(number);
    else
      return unsigned_number(number);
  }
  /// Appends a number in a format of printf, but with a decimal point in every locale, and NaN
  /// without a sign.
  LAMINA_API LAMINA_COLD text& print(const char* format, double number);
  /// Appends numbers such as the dimensions of a shape, as "[64, 10]".
  template <class Range>
  LAMINA_COLD text& list(const Range& numbers) {
    *this << "[";
    bool first = true;
    for (const auto n : numbers) *this << (first ? "" : ", ") << n, first = false;
    return *this << "]";
  }

  LAMINA_API LAMINA_COLD operator std::string() const;

 private:
  LAMINA_API LAMINA_COLD text& signed_number(long long number);
  LAMINA_API LAMINA_COLD text& unsigned_number(unsigned long long number);

  std::string all_;
};

#if LAMINA_DEFINES

text::text() {}

text::text(std::string_view first) : all_(first) {}

text::~text() {}

text& text::operator<<(std::string_view piece) {
  all_.append(piece.data(), piece.size());
  return *this;
}

text& text::print(const char* format, double number) {
  char digits[352], half[16];  // the longest double without a fraction has 309 digits
  if (number != number) number = std::numeric_limits<double>::quiet_NaN();
  std::snprintf(digits, sizeof digits, format, number);
  std::snprintf(half, sizeof half, "%.1f", 0.5);
  const std::string_view point =
      std::string_view(half).substr(1, std::string_view(half).size() - 2);
  const std::string_view all(digits);
  if (point == ".") return *this << all;
  const auto is_digit = [&](std::size_t i) {
    return i < all.size() && all[i] >= '0' && all[i] <= '9';
  };
  // The format itself may contain commas, so only a comma between two digits is the decimal mark.
  std::size_t at = all.rfind(point);
  while (at != all.npos && at != 0 && !(is_digit(at - 1) && is_digit(at + point.size())))
    at = all.rfind(point, at - 1);
  if (at == all.npos || at == 0) return *this << all;
  return *this << all.substr(0, at) << "." << all.substr(at + point.size());
}

text::operator std::string() const { return all_; }

text& text::signed_number(long long number) {
  if (number < 0) *this << "-";
  return unsigned_number(number < 0 ? 0 - static_cast<unsigned long long>(number)
                                    : static_cast<unsigned long long>(number));
}

text& text::unsigned_number(unsigned long long number) {
  char digits[20];
  std::size_t at = sizeof digits;
  do {
    digits[--at] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  return *this << std::string_view(digits + at, sizeof digits - at);
}

#endif  // LAMINA_DEFINES

}}  // namespace lamina
