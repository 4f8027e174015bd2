// SPDX-License-Identifier: Apache-2.0
// Programs as the protobuf bytes of Fluid.

#include "io/program_samples.hpp"
#include <catch2/catch.hpp>

#include <lamina/io/loaded_program.hpp>
#include <lamina/io/program_desc_proto.hpp>

using lamina::attribute_message;
using lamina::attribute_type;
using lamina::from_proto;
using lamina::program_message;
using lamina::to_proto;

namespace {

std::string from_hex(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16)));
  return bytes;
}

// field, wire type 2, length, content
std::string field(int number, const std::string& content) {
  return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(content.size()) +
         content;
}

std::string number(int field, int value) {
  return {static_cast<char>(field << 3), static_cast<char>(value)};
}

}  // namespace

TEST_CASE("proto: the bytes of a small program are those of Fluid's framework.proto") {
  program_message p;
  lamina::block_message& b = p.blocks.emplace_back();
  lamina::variable_message& v = b.variables.emplace_back();
  v.name = "x";
  v.dims = {-1, 4};
  lamina::operator_message& op = b.operators.emplace_back();
  op.type = "scale";
  op.inputs.push_back({"X", {"x"}});
  op.outputs.push_back({"Out", {"x"}});
  attribute_message a;
  a.name = "scale";
  a.type = attribute_type::real;
  a.real = 2;
  op.attributes.push_back(a);
  const std::string expected = from_hex(
      "0a56"  // block
      "0800"
      "10ffffffffffffffffff01"  // idx 0, parent_idx -1
      "1a1c"
      "0a0178"
      "1217"
      "0807"
      "1a13"  // x: LOD_TENSOR
      "0a0f"
      "0805"
      "10ffffffffffffffffff01"
      "1004"  // FP32 [-1, 4], not packed
      "1000"  // lod_level 0
      "2229"
      "0a06"
      "0a0158"
      "120178"  // X = [x]
      "1208"
      "0a034f7574"
      "120178"          // Out = [x]
      "1a057363616c65"  // scale
      "220e"
      "0a057363616c65"
      "1001"
      "2500000040"  // scale = 2f
      "22020800");  // version 0 in field 4
  CHECK(to_proto(p) == expected);
  CHECK(from_proto(expected) == p);
}

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

TEST_CASE("proto: what is not known is kept") {
  const std::string later = field(15, "later");
  const std::string attribute = field(4, field(1, "a") + number(2, 14) + field(15, "value"));
  const std::string op = field(4, field(3, "relu") + attribute + later);
  const std::string variable = field(
      3, field(1, "v") +
             field(2, number(1, 7) + field(3, field(1, number(1, 5) + later) + later) + later) +
             later);
  const std::string bytes =
      field(1, number(1, 0) + number(2, 0) + variable + op + later) + field(3, "map") + later;
  const program_message p = from_proto(bytes);
  CHECK(p.unknown == field(3, "map") + later);
  CHECK(p.blocks[0].unknown == later);
  CHECK(p.blocks[0].variables[0].unknown == later);
  CHECK(p.blocks[0].variables[0].unknown_of_tensor == later);
  CHECK(p.blocks[0].operators[0].attributes[0].later_type == 14);
  const program_message again = from_proto(to_proto(p));
  CHECK(again == p);
}

TEST_CASE("proto: every kind of attribute goes there and back") {
  program_message p;
  lamina::operator_message& op = p.blocks.emplace_back().operators.emplace_back();
  op.type = "any";
  const auto add = [&](attribute_type type) -> attribute_message& {
    attribute_message& a = op.attributes.emplace_back();
    a.name = "a" + std::to_string(static_cast<int>(type));
    a.type = type;
    return a;
  };
  add(attribute_type::integer).integer = -3;
  add(attribute_type::real).real = -1.5f;
  add(attribute_type::string).text = std::string("a\0b", 3);
  add(attribute_type::integers).integers = {1, -2};
  add(attribute_type::reals).reals = {0.5f, 2};
  add(attribute_type::strings).texts = {"", "x"};
  add(attribute_type::boolean).integer = 1;
  add(attribute_type::booleans).integers = {1, 0};
  add(attribute_type::block).integer = 2;
  add(attribute_type::long_integer).integer = std::int64_t{1} << 40;
  add(attribute_type::blocks).integers = {1, 2};
  add(attribute_type::long_integers).integers = {-(std::int64_t{1} << 40), 7};
  CHECK(from_proto(to_proto(p)) == p);
}
