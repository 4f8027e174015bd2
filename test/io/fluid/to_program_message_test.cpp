// SPDX-License-Identifier: Apache-2.0
// The bytes of a small program are those of Fluid.

#include "io/program_samples.hpp"
#include <catch2/catch.hpp>

#include <lamina/io/fluid/to_program_message.hpp>
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
