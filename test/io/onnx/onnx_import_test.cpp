// SPDX-License-Identifier: Apache-2.0
// onnx_import: names of variables, operators on constants, and operators that no output needs.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/io/onnx/onnx_import.hpp>

using Catch::Contains;
using lamina::dtype;
using lamina::onnx_import;
using lamina::onnx_imported;

namespace {

/// Computes no operator: returns twos of the type int32 for each result.
std::vector<lamina::lod_tensor> twos(lamina::program_message program, lamina::scope& constants,
                                     const std::vector<std::string>& fetch) {
  CHECK(program.blocks[0].operators.at(0).type == "square");
  CHECK(constants.names().size() == 1);
  return std::vector<lamina::lod_tensor>(fetch.size(),
                                         lamina::tensor::filled<std::int32_t>({2}, 2));
}
std::string names_of(const lamina::program_message& program) {
  std::string all;
  for (const lamina::variable_message& v : program.blocks[0].variables) all += v.name + " ";
  return all;
}

}  // namespace

TEST_CASE("onnx_import: an operator on constants is computed, in the type of its result") {
  onnx_import to("net.onnx", twos, 100);
  const onnx_imported c = onnx_import::constant(lamina::tensor::filled<float>({2}, 1));
  const onnx_imported made =
      to.make("square", {{"X", c}}, {}, {{"Out", dtype::float32, {2}}}, 7)[0];
  REQUIRE(made.constant != nullptr);
  CHECK(made.constant->as<float>().flat(1) == 2);
  CHECK_THROWS_WITH(to.make("square", {{"X", c}}, {}, {{"Out", dtype::float32, {11, 10}}}, 7),
                    Contains("net.onnx, offset 7") && Contains("at most 100 elements"));
}

TEST_CASE("onnx_import: each name is unique, and outputs and feeds keep theirs") {
  onnx_import to("net.onnx", twos, 100);
  const onnx_imported x = to.feed("x", dtype::float32, {-1, 2});
  const onnx_imported w = onnx_import::constant(lamina::tensor::filled<float>({2}, 1));
  to.name_constant(w, "x");
  const onnx_imported h =
      to.make("elementwise_add", {{"X", x}, {"Y", w}}, {}, {{"Out", x.type, x.dims}}, 0)[0];
  to.suggest(h, "y");
  const onnx_imported unused = to.make("square", {{"X", h}}, {}, {{"Out", x.type, x.dims}}, 0)[0];
  CHECK(unused.variable >= 0);
  const onnx_imported y = to.make("square", {{"X", h}}, {}, {{"Out", x.type, x.dims}}, 0)[0];
  to.output("y", y, 0);
  to.output("again", y, 0);  // a value has one name, so this is a copy
  lamina::scope constants;
  const lamina::program_message made = to.finish(constants);
  CHECK(names_of(made) == "x x_0 y_0 y again ");
  CHECK(constants.names() == std::vector<std::string>{"x_0"});
  std::string types;
  for (const lamina::operator_message& op : made.blocks[0].operators) types += op.type + " ";
  CHECK(types == "feed elementwise_add square assign fetch fetch ");
}

TEST_CASE("onnx_import: a scalar has the shape [1] in the program") {
  const onnx_imported c = onnx_import::constant(lamina::tensor::filled<float>({}, 3));
  CHECK(c.dims.empty());
  CHECK(c.constant->shape() == lamina::tensor_shape{1});
}
