// SPDX-License-Identifier: Apache-2.0
// Programs as the protobuf bytes of Fluid.

#include "io/program_samples.hpp"
#include <catch2/catch.hpp>

#include <lamina/io/loaded_program.hpp>
#include <lamina/io/program_desc_proto.hpp>

using lamina::from_proto;
using lamina::program_message;

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

TEST_CASE("proto: both places of the version, any order of fields, packed numbers") {
  const std::string block = field(1, number(2, 0) + number(1, 0));
  CHECK(from_proto(block + field(2, number(1, 7))).version == 7);
  CHECK(from_proto(field(4, number(1, 9)) + block).version == 9);
  CHECK(from_proto(block).version == 0);

  const std::string tensor = field(2, std::string("\x03\x04", 2)) + number(1, 5);  // dims packed
  const std::string type = field(3, field(1, tensor)) + number(1, 7);
  const std::string variable = field(2, type) + field(1, "v");
  const program_message p = from_proto(field(1, field(3, variable) + number(2, 0) + number(1, 0)));
  REQUIRE(p.blocks[0].variables.size() == 1);
  CHECK(p.blocks[0].variables[0].dims == std::vector<std::int64_t>{3, 4});
}
