// SPDX-License-Identifier: Apache-2.0
// CRC-32: the check value of its definition, and sums of pieces.
#include <string>

#include <catch2/catch.hpp>

#include <lamina/io/archive/crc32.hpp>

TEST_CASE("CRC-32 has the check value of IEEE 802.3") {
  CHECK(lamina::crc32_of("123456789", 9) == 0xcbf43926u);
  CHECK(lamina::crc32_of("", 0) == 0);
  const std::string zeros(32, '\0');
  CHECK(lamina::crc32_of(zeros.data(), zeros.size()) == 0x190a55adu);
}

TEST_CASE("CRC-32 of pieces is that of the whole") {
  const std::string bytes = "bytes are read eight at a time, and the rest one by one";
  const auto whole = lamina::crc32_of(bytes.data(), bytes.size());
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut)
    CHECK(lamina::crc32_of(bytes.data() + cut, bytes.size() - cut,
                           lamina::crc32_of(bytes.data(), cut)) == whole);
}
