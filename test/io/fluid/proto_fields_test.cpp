// SPDX-License-Identifier: Apache-2.0
// Fields of protobuf messages: truncated, changed and too long ones.

#include "io/program_samples.hpp"
#include <catch2/catch.hpp>

#include <lamina/io/fluid/proto_fields.hpp>
#include <lamina/io/loaded_program.hpp>
#include <lamina/io/program_desc_proto.hpp>

using Catch::Contains;
using lamina::from_proto;
using lamina::program_message;
using lamina::to_proto;

namespace {

// field, wire type 2, length, content
std::string field(int number, const std::string& content) {
  return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(content.size()) +
         content;
}

std::string number(int field, int value) {
  return {static_cast<char>(field << 3), static_cast<char>(value)};
}

}  // namespace

TEST_CASE("proto: bytes that end anywhere are an error with their place, or a shorter program",
          "[damage]") {
  const std::string bytes = to_proto(samples::loop);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    try {
      const program_message p = from_proto(std::string_view(bytes).substr(0, n), "cut");
      CHECK(p.blocks.size() <= 2);  // cut between two fields of the program
    } catch (const lamina::format_error& e) {
      CHECK(e.file() == "cut");
      CHECK(e.offset() <= n);
    }
  }
  CHECK_THROWS_WITH(
      from_proto("", "empty"),
      "lamina: empty, offset 0: expected at least one block of a ProgramDesc, found none");
  CHECK_THROWS_WITH(from_proto(std::string("\x0a\x7f", 2), "f"),
                    Contains("f, offset 0: expected a field of ProgramDesc"));
  CHECK_THROWS_WITH(from_proto(field(1, number(1, 0)), "f"),
                    Contains("offset 2: expected the field parent_idx of BlockDesc, found none"));
  CHECK_THROWS_WITH(from_proto(number(1, 0), "f"), Contains("expected BlockDesc in field 1"));
}

// protozero cuts lengths to 32 bits.
TEST_CASE("proto: a field of more than 4 GB is refused, wherever it is") {
  const auto varint = [](std::uint64_t value) {
    std::string bytes;
    for (; value > 127; value >>= 7) bytes += static_cast<char>(value | 128);
    return bytes + static_cast<char>(value);
  };
  for (const std::uint64_t more : {std::uint64_t{1} << 32, std::uint64_t{1} << 40}) {
    // As many bytes as the length has beyond 32 bits: what would be read without a check.
    const auto long_field = [&](int number, const std::string& content) {
      return std::string(1, static_cast<char>(number << 3 | 2)) + varint(more + content.size()) +
             content;
    };
    const std::string length = std::to_string(more + 4);
    const std::string block = number(1, 0) + number(2, 0);
    CHECK_THROWS_WITH(from_proto(long_field(1, block), "f"),
                      Contains("f, offset 0: expected a field of ProgramDesc, found that field 1 "
                               "has " +
                               length + " bytes, of which 4 are there"));
    // One that nobody knows, a text, packed numbers.
    CHECK_THROWS_WITH(from_proto(field(1, block) + long_field(15, "past"), "f"),
                      Contains("field 15 has " + length));
    CHECK_THROWS_WITH(from_proto(field(1, block + field(4, long_field(3, "relu"))), "f"),
                      Contains("expected a field of OpDesc, found that field 3 has " + length));
    const std::string packed = field(4, field(1, "a") + number(2, 3) + long_field(6, "\1\2\3\4"));
    CHECK_THROWS_WITH(from_proto(field(1, block + field(4, field(3, "relu") + packed)), "f"),
                      Contains("has " + length + " bytes"));
    // The number of a field has 32 bits too.
    CHECK_THROWS_WITH(
        from_proto(field(1, block) + varint((more << 3) + (15 << 3 | 2)) + varint(0), "f"),
        Contains("expected a field of ProgramDesc, found one whose number"));
  }
}

TEST_CASE("proto: every byte changed: read, or refused with an error of lamina", "[damage]") {
  const std::string bytes = to_proto(samples::loop);
  int read = 0, refused = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (const int change : {1, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ change);
      try {
        const lamina::loaded_program p(from_proto(damaged, "damaged"), "damaged");
        ++read;
      } catch (const lamina::format_error&) {
        ++refused;
      }
    }
  CHECK(read > 0);
  CHECK(refused > 0);
}
