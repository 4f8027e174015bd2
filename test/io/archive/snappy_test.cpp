// SPDX-License-Identifier: Apache-2.0
// Snappy: parts of a stream written by hand. recordio_test reads what others wrote.
#include <string>

#include <catch2/catch.hpp>

#include <lamina/io/archive/snappy.hpp>

using Catch::Contains;
using lamina::detail::crc32c_of;

namespace {

std::string little(std::uint32_t n, int bytes) {
  std::string all;
  for (int i = 0; i < bytes; ++i) all += static_cast<char>(n >> (8 * i));
  return all;
}
const std::string mark = "\xff" + little(6, 3) + "sNaPpY";
std::string part(int kind, const std::string& bytes, const std::string& plain) {
  const std::uint32_t sum = crc32c_of(plain);
  const std::string content = little((sum >> 15 | sum << 17) + 0xa282ead8u, 4) + bytes;
  return static_cast<char>(kind) + little(static_cast<std::uint32_t>(content.size()), 3) + content;
}
std::string unpacked(const std::string& bytes) {
  return lamina::detail::snappy_stream(bytes, "made up", 100).unpacked();
}
std::string refused(const std::string& bytes) {
  try {
    unpacked(bytes);
  } catch (const lamina::format_error& e) {
    CHECK(e.offset() >= 100);
    CHECK(e.offset() <= 100 + bytes.size());
    return e.what();
  }
  return "none";
}
std::string block(const std::string& bytes) { return refused(mark + part(0, bytes, "")); }

}  // namespace

TEST_CASE("CRC-32C has the check value of its definition") {
  CHECK(crc32c_of("123456789") == 0xe3069283u);
}

TEST_CASE("parts of a stream of snappy") {
  CHECK(unpacked("").empty());
  CHECK(unpacked(mark).empty());
  CHECK(unpacked(mark + part(1, "plain", "plain")) == "plain");
  CHECK(unpacked(mark + part(0xfe, "left out", "") + mark + part(1, "x", "x")) == "x");
  // A literal; copies with an offset of 11, 16 and 32 bits; one that overlaps itself.
  const std::string copies = std::string("\x13") + "\x0c" + "abcd" + std::string("\1\4", 2) +
                             std::string("\x0e\2\0", 3) + std::string("\x1b\1\0\0\0", 5);
  CHECK(unpacked(mark + part(0, copies, "abcdabcdcdcdddddddd")) == "abcdabcdcdcdddddddd");
  // A literal whose length has a byte of its own.
  const std::string long_one(200, 'y');
  CHECK(unpacked(mark + part(0, std::string("\xc8\1\xf0\xc7", 4) + long_one, long_one)) ==
        long_one);
}

TEST_CASE("damaged streams of snappy") {
  CHECK_THAT(refused("abc"), Contains("expected 4 bytes"));
  CHECK_THAT(refused(part(1, "x", "x")), Contains("expected the mark of a stream"));
  CHECK_THAT(refused("\xff" + little(6, 3) + "snappy"), Contains("expected the mark"));
  CHECK_THAT(refused(mark + "\1" + little(9, 3)), Contains("expected 9 bytes"));
  CHECK_THAT(refused(mark + "\1" + little(2, 3) + "ab"), Contains("expected a checksum"));
  CHECK_THAT(refused(mark + part(2, "x", "x")), Contains("found a part of kind 2"));
  CHECK_THAT(refused(mark + part(1, "x", "y")), Contains("expected the checksum of a part"));
  CHECK_THAT(block(""), Contains("expected the size of a block"));
  CHECK_THAT(block("\xff\xff\xff\1"), Contains("expected the size of a block"));
  CHECK_THAT(block("\x81\x80\4"), Contains("at most 65536 bytes, found 65537"));
  CHECK_THAT(block("\3"), Contains("a block of 3 bytes, found 0"));
  CHECK_THAT(block("\2\x08"
                   "ab"),
             Contains("expected bytes of the block"));
  CHECK_THAT(block("\2\x08"
                   "abc"),
             Contains("expected bytes of the block"));
  CHECK_THAT(block("\2\xf0"), Contains("expected a length"));
  CHECK_THAT(block(std::string("\4\1\1", 3)), Contains("expected a copy within the block"));
  CHECK_THAT(block(std::string("\5\0a\1\0", 5)), Contains("expected a copy within the block"));
  CHECK_THAT(block(std::string("\4\0a\1\1", 5)), Contains("expected a copy within the block"));
}
