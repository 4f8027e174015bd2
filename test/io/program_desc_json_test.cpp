// SPDX-License-Identifier: Apache-2.0
// Programs in the JSON mapping of protobuf.

#include "io/program_samples.hpp"
#include <catch2/catch.hpp>

#include <lamina/io/loaded_program.hpp>
#include <lamina/io/program_desc_json.hpp>

using lamina::attribute_type;
using lamina::from_json;
using lamina::from_json_text;
using lamina::program_message;
using lamina::to_json;

namespace {

template <class P>
void there_and_back(P program) {
  const program_message p = lamina::to_program_message(program);
  CHECK(from_json(to_json(p)) == p);
  CHECK(from_json_text(to_json(program).dump()) == p);
}

}  // namespace

TEST_CASE("json: names, enumerations and 64 bit numbers as protobuf maps them") {
  const nlohmann::json j = to_json(samples::perceptron);
  const nlohmann::json& block = j.at("blocks").at(0);
  CHECK(block.at("idx") == 0);
  CHECK(block.at("parentIdx") == -1);
  CHECK(j.at("version").at("version") == "0");
  const auto named = [&](const std::string& name) {
    for (const nlohmann::json& v : block.at("vars"))
      if (v.at("name") == name) return v;
    return nlohmann::json();
  };
  CHECK(named("x") == nlohmann::json::parse(R"({
    "name": "x", "needCheckFeed": true, "stopGradient": true,
    "type": {"type": "LOD_TENSOR", "lodTensor": {
      "lodLevel": 0, "tensor": {"dataType": "FP32", "dims": ["-1", "4"]}}}})"));
  CHECK(named("fc_0.w_0").at("persistable") == true);
  CHECK(named("fc_0.w_0").at("isParameter") == true);
  const nlohmann::json& mul = block.at("ops").at(0);
  CHECK(mul.at("type") == "mul");
  CHECK(mul.at("inputs").at(1) == nlohmann::json{{"parameter", "Y"}, {"arguments", {"fc_0.w_0"}}});
  CHECK(mul.at("attrs").at(0) ==
        nlohmann::json{{"name", "x_num_col_dims"}, {"type", "INT"}, {"i", 1}});
}

TEST_CASE("json: there and back") {
  there_and_back(samples::perceptron);
  there_and_back(samples::loop);
  there_and_back(samples::sentence);

  program_message p;
  lamina::operator_message& op = p.blocks.emplace_back().operators.emplace_back();
  op.type = "any";
  op.is_target = true;
  const auto add = [&](attribute_type type) -> lamina::attribute_message& {
    lamina::attribute_message& a = op.attributes.emplace_back();
    a.name = "a";
    a.type = type;
    return a;
  };
  add(attribute_type::real).real = std::numeric_limits<float>::infinity();
  add(attribute_type::reals).reals = {-std::numeric_limits<float>::infinity(), 0.1f};
  add(attribute_type::string).text = "\xc3\xa4\n\"";
  add(attribute_type::strings).texts = {"", "b"};
  add(attribute_type::boolean).integer = 1;
  add(attribute_type::booleans).integers = {0, 1};
  add(attribute_type::block).integer = 3;
  add(attribute_type::blocks).integers = {1, 2};
  add(attribute_type::long_integer).integer = std::numeric_limits<std::int64_t>::min();
  add(attribute_type::long_integers).integers = {std::numeric_limits<std::int64_t>::max(), 0};
  add(attribute_type::integers);
  p.blocks[0].forward_block = 0;
  p.version = 1008000;
  CHECK(from_json_text(to_json(p).dump()) == p);
}

TEST_CASE("json: both spellings, enumerators by number, numbers as text") {
  const program_message p = from_json_text(R"({"blocks": [{"idx": "0", "parent_idx": -1, "ops": [
    {"type": "t", "attrs": [{"name": "a", "type": 9, "l": 5},
      {"name": "b", "type": "FLOAT", "f": "0.5"},
      {"name": "c", "type": "BLOCK", "block_idx": 1}]}]}], "version": null})");
  REQUIRE(p.blocks.size() == 1);
  CHECK(p.blocks[0].parent == -1);
  const auto& a = p.blocks[0].operators.at(0).attributes;
  CHECK(a.at(0).integer == 5);
  CHECK(a.at(1).real == 0.5f);
  CHECK(a.at(2).integer == 1);
}
