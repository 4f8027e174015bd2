// SPDX-License-Identifier: Apache-2.0
// Programs that are not written as C++.
#include <catch2/catch.hpp>
#include <codegen/imported/lenet.imported>
#include <codegen/same_program.hpp>

#include <lamina/codegen/native_source.hpp>
#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using Catch::Contains;

TEST_CASE("native records: what is not written is refused with the operator and its place") {
  lamina::program_message m = same_program::as_saved(lenet.view());
  const auto refused = [&](const lamina::program_message& changed) {
    try {
      return lamina::native_source(lamina::loaded_program(changed, "m"));
    } catch (const lamina::format_error& e) {
      return std::string(e.what());
    }
  };
  auto changed = m;
  lamina::operator_message& sgd = changed.blocks[0].operators.emplace_back();
  sgd.type = "sgd";
  sgd.offset = 1234;
  sgd.inputs = {{"Param", {"fc_2.w_0"}}, {"Grad", {"fc_2.w_0"}}, {"LearningRate", {"fc_2.b_0"}}};
  sgd.outputs = {{"ParamOut", {"fc_2.w_0"}}};
  CHECK_THAT(
      refused(changed),
      Contains("m, offset 1234: expected the value of the learning rate 'fc_2.b_0', one float, "
               "among those of the parameters, found none (operator 'sgd')"));
  changed = m;
  for (lamina::variable_message& v : changed.blocks[0].variables)
    if (v.name == "image") v.dims[2] = -1;
  CHECK_THAT(
      refused(changed),
      Contains(
          "known dimensions of the input 'image', the first of which may be -1, found [-1, 1, -1"));
  changed = m;
  std::erase_if(changed.blocks[0].operators, [](const auto& op) { return op.type == "fetch"; });
  CHECK_THAT(refused(changed), Contains("expected fetch operators"));
  changed = m;
  std::erase_if(changed.blocks[0].operators, [](const auto& op) { return op.type == "conv2d"; });
  CHECK_THAT(refused(changed),
             Contains("expected a variable that an operator computes, found "
                      "'conv2d_0.tmp_0' (operator 0 of block 0, 'elementwise_add"));
  CHECK_THROWS_WITH(lamina::native_source(lamina::loaded_program(m), {.name = "a b"}),
                    Contains("expected a C++ name for the program, found 'a b'"));
}
