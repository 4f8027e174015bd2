// SPDX-License-Identifier: Apache-2.0
// Numbers and their bytes in files, which are the same on machines of both byte orders.
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/files/little_endian.hpp>

using namespace lamina::detail;

TEST_CASE("numbers have little-endian bytes") {
  const std::string bytes = "_\1\2\3\4\5\6\7\x88";
  const char* const at = bytes.data() + 1;
  CHECK(from_little_endian<std::uint8_t>(at) == 1);
  CHECK(from_little_endian<std::int16_t>(at) == 0x201);
  CHECK(from_little_endian<std::uint32_t>(at) == 0x4030201);
  CHECK(from_little_endian<std::uint64_t>(at) == 0x8807060504030201);
  std::string written;
  append_little_endian(written, std::uint16_t{0x1234});
  append_little_endian(written, -2.5);
  append_little_endian(written, 1.5f);
  CHECK(written == std::string("\x34\x12\0\0\0\0\0\0\4\xc0\0\0\xc0\x3f", 14));
  CHECK(from_little_endian<double>(written.data() + 2) == -2.5);
  CHECK(from_little_endian<float>(written.data() + 10) == 1.5f);
}

TEST_CASE("arrays have little-endian bytes") {
  std::vector<std::uint16_t> numbers{0x201, 0x403, 0x605};
  const little_endian_bytes bytes(numbers.data(), 6, 2);
  CHECK(bytes.view() == "\1\2\3\4\5\6");
  CHECK(numbers[0] == 0x201);
  CHECK(little_endian_bytes("abcd", 4, 1).view() == "abcd");
  CHECK(little_endian_bytes(nullptr, 0, 8).size() == 0);
  convert_little_endian(numbers.data(), 6, 2);
  CHECK(std::string(reinterpret_cast<const char*>(numbers.data()), 6) == "\1\2\3\4\5\6");
  convert_little_endian(numbers.data(), 6, 2);
  CHECK(numbers == std::vector<std::uint16_t>{0x201, 0x403, 0x605});
}
