// SPDX-License-Identifier: Apache-2.0
// lamina/core/files/md5.hpp - the MD5 sum of a file, which identifies files of data sets (RFC
// 1321).
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/core/files/file.hpp>
#include <lamina/core/files/little_endian.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Computes the MD5 sum of bytes that arrive in pieces. It detects damaged downloads; it does not
/// protect against forged files. Source: RFC 1321.
class md5 {
 public:
  LAMINA_API LAMINA_COLD void add(std::string_view bytes);
  /// Returns the sum as 32 hexadecimal digits. No bytes can be added afterwards.
  LAMINA_API LAMINA_COLD std::string digits();

 private:
  LAMINA_API LAMINA_COLD void mix();

  std::array<std::uint32_t, 4> state_{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  std::array<char, 64> block_{};
  std::size_t held_ = 0;    // bytes in block_
  std::uint64_t size_ = 0;  // bytes so far
};

/// Returns the MD5 sum of a file as 32 hexadecimal digits. Throws lamina::error with the path if
/// the file is missing or cannot be read. Fluid: dataset.common.md5file.
LAMINA_API_COLD std::string md5file(const file_path& path);

#if LAMINA_DEFINES

void md5::add(std::string_view bytes) {
  size_ += bytes.size();
  while (!bytes.empty()) {
    const std::size_t n = bytes.size() < 64 - held_ ? bytes.size() : 64 - held_;
    std::memcpy(block_.data() + held_, bytes.data(), n);
    bytes.remove_prefix(n);
    held_ += n;
    if (held_ == 64) mix();
  }
}

std::string md5::digits() {
  const std::uint64_t bits = 8 * size_;
  add(std::string_view("\x80", 1));
  while (held_ != 56) add(std::string_view("\0", 1));
  char length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<char>(bits >> (8 * i));
  add(std::string_view(length, 8));
  std::string all;
  for (const std::uint32_t word : state_)
    for (int byte = 0; byte < 4; ++byte)
      for (const int half : {4, 0}) all += "0123456789abcdef"[word >> (8 * byte + half) & 15];
  return all;
}

void md5::mix() {
  static const std::array<std::uint32_t, 64> sines = [] {
    std::array<std::uint32_t, 64> all{};
    for (std::size_t i = 0; i < 64; ++i)
      all[i] =
          static_cast<std::uint32_t>(std::fabs(std::sin(static_cast<double>(i + 1))) * 4294967296.);
    return all;
  }();
  constexpr int turns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  std::uint32_t words[16];
  std::memcpy(words, block_.data(), 64);
  detail::convert_little_endian(words, sizeof words, sizeof words[0]);
  auto [a, b, c, d] = state_;
  for (std::uint32_t i = 0; i < 64; ++i) {
    const std::uint32_t round = i / 16;
    std::uint32_t mixed = 0, from = 0;
    if (round == 0) mixed = (b & c) | (~b & d), from = i;
    if (round == 1) mixed = (d & b) | (~d & c), from = (5 * i + 1) % 16;
    if (round == 2) mixed = b ^ c ^ d, from = (3 * i + 5) % 16;
    if (round == 3) mixed = c ^ (b | ~d), from = 7 * i % 16;
    const std::uint32_t turned = std::rotl(a + mixed + sines[i] + words[from], turns[round][i % 4]);
    a = d, d = c, c = b, b += turned;
  }
  state_[0] += a, state_[1] += b, state_[2] += c, state_[3] += d;
  held_ = 0;
}

std::string md5file(const file_path& path) {
  const open_file from(path.string());
  if (!from.is_open())
    throw error(text("lamina: ") << path.string() << ": cannot be opened: " << reason_of(errno));
  md5 sum;
  std::vector<char> piece(std::size_t{1} << 16);
  for (long long got = 1; got > 0;) {
    got = from.read(piece.data(), piece.size());
    if (got < 0)
      throw error(text("lamina: ") << path.string() << ": cannot be read: " << reason_of(errno));
    sum.add({piece.data(), static_cast<std::size_t>(got)});
  }
  return sum.digits();
}

#endif  // LAMINA_DEFINES

}}  // namespace lamina
