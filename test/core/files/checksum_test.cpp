// SPDX-License-Identifier: Apache-2.0
// checksum tells bytes, their order and their number apart.
#include <cstdint>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include <lamina/core/files/checksum.hpp>

namespace {

std::uint64_t checksum_of(const std::string& bytes, std::uint64_t seed = 0) {
  lamina::checksum sum(seed);
  sum.add(bytes.data(), bytes.size());
  return sum.value();
}

}  // namespace

TEST_CASE("a checksum changes with each byte, the order and the seed") {
  const std::string bytes =
      "sixty-four bytes are one stripe, and what follows is padded: 0123456789";
  std::set<std::uint64_t> sums = {checksum_of(bytes), checksum_of(bytes, 1)};
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (const char flip : {1, 16, 64}) {
      std::string other = bytes;
      other[i] = static_cast<char>(other[i] ^ flip);
      sums.insert(checksum_of(other));
    }
  std::string swapped = bytes;
  std::swap(swapped[0], swapped[8]);
  sums.insert(checksum_of(swapped));
  CHECK(sums.size() == 3 + 3 * bytes.size());
}

TEST_CASE("whole stripes may be added in pieces, and the last one is padded with zeros") {
  const std::string bytes(3 * lamina::checksum::stripe, 'x');
  lamina::checksum pieces;
  pieces.add(bytes.data(), lamina::checksum::stripe);
  pieces.add(bytes.data(), 2 * lamina::checksum::stripe);
  CHECK(pieces.value() == checksum_of(bytes));
  CHECK(checksum_of("ab") == checksum_of(std::string("ab") + std::string(62, '\0')));
  CHECK(checksum_of("") != checksum_of(std::string(64, '\0')));
}
