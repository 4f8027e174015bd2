// SPDX-License-Identifier: Apache-2.0
// lamina/core/files/checksum.hpp - the checksum in the files that lamina writes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <lamina/core/files/little_endian.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// A checksum that detects accidental damage, not forgery. It reads bytes as stripes of eight
/// little-endian words w, the last stripe padded with zeros. The four lanes start as h[0..3] =
/// seed + 1, ..., seed + 4. Lane k takes words k and k + 4 of each stripe in turn:
///   h = rotate_left(h ^ w, 29) * 0x9e3779b97f4a7c15
/// In the end the same step combines the lanes, starting from the number of stripes. Every step is
/// a bijection in h and in w. So damage within one word is always detected, and other damage is
/// missed once in 2^64 cases. With four independent lanes and one multiplication per word, the
/// computation is as fast as memory can be read.
class checksum {
 public:
  static constexpr std::size_t stripe = 64;

  explicit checksum(std::uint64_t seed = 0) : lanes_{seed + 1, seed + 2, seed + 3, seed + 4} {}

  /// Adds further bytes. If they end within a stripe, the stripe is padded with zeros.
  LAMINA_NOINLINE void add(const void* bytes, std::size_t count) {
    const unsigned char* at = static_cast<const unsigned char*>(bytes);
    std::uint64_t a = lanes_[0], b = lanes_[1], c = lanes_[2], d = lanes_[3];
    for (; count >= stripe; count -= stripe, at += stripe, ++stripes_) {
      std::uint64_t w[8];
      std::memcpy(w, at, stripe);
      detail::convert_little_endian(w, stripe, 8);
      a = step(step(a, w[0]), w[4]);
      b = step(step(b, w[1]), w[5]);
      c = step(step(c, w[2]), w[6]);
      d = step(step(d, w[3]), w[7]);
    }
    lanes_[0] = a, lanes_[1] = b, lanes_[2] = c, lanes_[3] = d;
    if (count == 0) return;
    unsigned char rest[stripe] = {};
    std::memcpy(rest, at, count);
    add(rest, stripe);
  }

  /// Adds the little-endian bytes of numbers, which have `bytes` bytes together and `each` bytes
  /// each. The result is the same on all machines.
  void add_numbers(const void* numbers, std::size_t bytes, std::size_t each) {
    const detail::little_endian_bytes all(numbers, bytes, each);
    add(all.data(), all.size());
  }

  std::uint64_t value() const {
    std::uint64_t h = stripes_;
    for (const std::uint64_t lane : lanes_) h = step(h, lane);
    return h ^ h >> 32;
  }

 private:
  static std::uint64_t step(std::uint64_t h, std::uint64_t w) {
    h ^= w;
    return (h << 29 | h >> 35) * 0x9e3779b97f4a7c15u;
  }
  std::uint64_t lanes_[4];
  std::uint64_t stripes_ = 0;
};

}}  // namespace lamina
