// SPDX-License-Identifier: Apache-2.0
// lamina/io/archive/crc32.hpp - the checksum of zip archives.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

#include <lamina/core/files/little_endian.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// table[k][b] is the contribution of byte b to the remainder if k more bytes follow b.
inline const auto& crc32_tables() {
  static const auto tables = [] {
    std::array<std::array<std::uint32_t, 256>, 8> t{};
    for (std::uint32_t b = 0; b < 256; ++b) {
      std::uint32_t r = b;
      for (int bit = 0; bit < 8; ++bit) r = (r & 1) != 0 ? r >> 1 ^ 0xedb88320u : r >> 1;
      t[0][b] = r;
    }
    for (std::size_t k = 1; k < 8; ++k)
      for (std::size_t b = 0; b < 256; ++b) t[k][b] = t[k - 1][b] >> 8 ^ t[0][t[k - 1][b] & 255];
    return t;
  }();
  return tables;
}

}  // namespace detail

/// Computes the CRC-32 of bytes (IEEE 802.3, reflected), continued from `before`, the CRC-32 of the
/// preceding bytes. Processes eight bytes per step by tables: Kounavis and Berry, 2005.
inline std::uint32_t crc32_of(const void* bytes, std::size_t count, std::uint32_t before = 0) {
  const auto& t = detail::crc32_tables();
  const unsigned char* at = static_cast<const unsigned char*>(bytes);
  std::uint32_t r = ~before;
  for (; count >= 8; count -= 8, at += 8) {
    const std::uint64_t word = detail::from_little_endian<std::uint64_t>(at) ^ r;
    r = 0;
    for (std::size_t k = 0; k < 8; ++k) r ^= t[7 - k][word >> (8 * k) & 255];
  }
  for (; count > 0; --count, ++at) r = r >> 8 ^ t[0][(r ^ *at) & 255];
  return ~r;
}

}}  // namespace lamina
