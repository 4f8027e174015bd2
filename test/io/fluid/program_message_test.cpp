// SPDX-License-Identifier: Apache-2.0
// Messages of programs: unknown fields are kept, attributes of every kind.

#include "io/program_samples.hpp"
#include <catch2/catch.hpp>

#include <lamina/io/fluid/program_message.hpp>
#include <lamina/io/loaded_program.hpp>
#include <lamina/io/program_desc_proto.hpp>

using lamina::attribute_message;
using lamina::attribute_type;
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
