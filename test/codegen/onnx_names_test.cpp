// SPDX-License-Identifier: Apache-2.0
// Layers of ONNX files get the names of modules, and activations join their layers.
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/codegen/onnx_names.hpp>

using lamina::detail::module_of;
using lamina::detail::onnx_names;

namespace {

lamina::operator_message op(const char* type, std::vector<lamina::slot_message> inputs,
                            const char* out) {
  lamina::operator_message made;
  made.type = type;
  made.inputs = std::move(inputs);
  made.outputs = {{"Out", {out}}};
  return made;
}

}  // namespace

TEST_CASE("onnx names: the module of a value") {
  CHECK(module_of("/features/features.1/block/block.0/Conv_output_0") == "features.1.block.0");
  CHECK(module_of("/encoder/layer.0/attention/self/MatMul_output_0") ==
        "encoder.layer.0.attention.self");
  CHECK(module_of("/conv1/Conv_output_0") == "conv1");
  CHECK(module_of("/Flatten_output_0").empty());
  CHECK(module_of("relu_3").empty());
}

TEST_CASE("onnx names: an activation joins its layer, outputs keep their names") {
  lamina::program_message p;
  lamina::block_message& b = p.blocks.emplace_back();
  for (const char* name : {"x", "fc.weight", "onnx::Mul_7", "/fc/MatMul_output_0", "/Relu_output_0",
                           "/last/MatMul_output_0", "y"}) {
    lamina::variable_message& v = b.variables.emplace_back();
    v.name = name;
    v.dims = {-1, 4};
    v.is_parameter = v.persistable = v.name == "fc.weight" || v.name == "onnx::Mul_7";
  }
  b.operators.push_back(op("feed", {}, "x"));
  b.operators.push_back(op("mul", {{"X", {"x"}}, {"Y", {"fc.weight"}}}, "/fc/MatMul_output_0"));
  b.operators.push_back(op("relu", {{"X", {"/fc/MatMul_output_0"}}}, "/Relu_output_0"));
  b.operators.push_back(
      op("mul", {{"X", {"/Relu_output_0"}}, {"Y", {"onnx::Mul_7"}}}, "/last/MatMul_output_0"));
  b.operators.push_back(op("softmax", {{"X", {"/last/MatMul_output_0"}}}, "y"));
  b.operators.push_back(op("fetch", {{"X", {"y"}}}, "fetch"));
  onnx_names names(p);
  const std::vector<lamina::operator_message> all = names.named().blocks[0].operators;
  CHECK(all[1].output("Out") == std::vector<std::string>{"fc.tmp_0"});
  CHECK(all[2].output("Out") == std::vector<std::string>{"fc"});  // named by the parameter
  CHECK(all[3].input("X") == std::vector<std::string>{"fc"});
  CHECK(all[3].output("Out") == std::vector<std::string>{"last"});  // named by the path
  CHECK(all[4].output("Out") == std::vector<std::string>{"y"});
  CHECK(names.unnamed().empty());
}
