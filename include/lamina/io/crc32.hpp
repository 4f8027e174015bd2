// SPDX-License-Identifier: Apache-2.0
// lamina/io/crc32.hpp - the checksum of zip archives.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__PCLMUL__)
#include <immintrin.h>
#endif

namespace lamina {

namespace detail {

/// table[k][b]: what byte b does to the remainder when k further bytes follow it.
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

#if defined(__PCLMUL__)
/// a(x) moved behind the bits of b(x): both halves times powers of x, which `by` holds.
inline __m128i crc32_fold(__m128i a, __m128i b, __m128i by) {
  const __m128i low = _mm_clmulepi64_si128(a, by, 0x00), high = _mm_clmulepi64_si128(a, by, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), b);
}
/// 16 bytes whose remainder is that of `count` bytes, a multiple of 64 that is not 0: blocks of 64
/// bytes are folded into the next by products without carry. Gopal and others, Fast CRC Computation
/// for Generic Polynomials, Intel 2009, whose constants these are.
inline __m128i crc32_folded(const unsigned char* at, std::size_t count, std::uint32_t r) {
  const auto block = [](const unsigned char* from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  };
  const __m128i by_64 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
  const __m128i by_16 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
  __m128i a = _mm_xor_si128(block(at), _mm_cvtsi32_si128(static_cast<int>(r)));
  __m128i b = block(at + 16), c = block(at + 32), d = block(at + 48);
  for (count -= 64, at += 64; count > 0; count -= 64, at += 64) {
    a = crc32_fold(a, block(at), by_64);
    b = crc32_fold(b, block(at + 16), by_64);
    c = crc32_fold(c, block(at + 32), by_64);
    d = crc32_fold(d, block(at + 48), by_64);
  }
  return crc32_fold(crc32_fold(crc32_fold(a, b, by_16), c, by_16), d, by_16);
}
#endif

/// The remainder r after further bytes. Eight bytes a step, by tables: Kounavis and Berry, 2005.
inline std::uint32_t crc32_by_tables(const unsigned char* at, std::size_t count, std::uint32_t r) {
  const auto& t = crc32_tables();
  for (; count >= 8; count -= 8, at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);  // little-endian: binary_file.hpp
    word ^= r;
    r = 0;
    for (std::size_t k = 0; k < 8; ++k) r ^= t[7 - k][word >> (8 * k) & 255];
  }
  for (; count > 0; --count, ++at) r = r >> 8 ^ t[0][(r ^ *at) & 255];
  return r;
}

}  // namespace detail

/// The CRC-32 of bytes (IEEE 802.3, reflected), continued from that of the bytes before them. Where
/// the processor multiplies without carry, several times as fast as by tables.
inline std::uint32_t crc32_of(const void* bytes, std::size_t count, std::uint32_t before = 0) {
  const unsigned char* at = static_cast<const unsigned char*>(bytes);
  std::uint32_t r = ~before;
#if defined(__PCLMUL__)
  if (const std::size_t whole = count / 64 * 64; whole > 0) {
    unsigned char folded[16];
    _mm_storeu_si128(reinterpret_cast<__m128i*>(folded), detail::crc32_folded(at, whole, r));
    r = detail::crc32_by_tables(folded, 16, 0);
    at += whole;
    count -= whole;
  }
#endif
  return ~detail::crc32_by_tables(at, count, r);
}

}  // namespace lamina
