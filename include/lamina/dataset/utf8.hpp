// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/utf8.hpp - finds the characters of UTF-8 text.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset {

/// Returns the number of bytes of the UTF-8 character that begins at bytes[at]; 0 if the bytes are
/// invalid. As in RFC 3629, overlong forms, surrogates and characters above U+10FFFF are invalid.
constexpr std::size_t utf8_length(std::string_view bytes, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first < 0xF0) {
    const bool fits = !(first == 0xE0 && second < 0xA0) && !(first == 0xED && second > 0x9F);
    return fits && follows(1) && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first < 0xF5) {
    const bool fits = !(first == 0xF0 && second < 0x90) && !(first == 0xF4 && second > 0x8F);
    return fits && follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

/// Returns the position of the first byte that is not UTF-8; if there is none, the number of bytes.
constexpr std::size_t utf8_end(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t length = utf8_length(bytes, at);
    if (length == 0) break;
    at += length;
  }
  return at;
}

/// Converts Latin-1 (ISO 8859-1) to UTF-8: each byte is the character with the same number.
LAMINA_API_COLD std::string utf8_of_latin1(std::string_view bytes);

#if LAMINA_DEFINES

std::string utf8_of_latin1(std::string_view bytes) {
  std::string all;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) all += static_cast<char>(0xC0 | byte >> 6);
    all += byte < 0x80 ? c : static_cast<char>(0x80 | (byte & 0x3F));
  }
  return all;
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset
