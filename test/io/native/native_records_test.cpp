// SPDX-License-Identifier: Apache-2.0
// Programs that are not written as C++.
#include <catch2/catch.hpp>
#include <io/native/imported/lenet.imported>
#include <io/native/same_program.hpp>

#include <lamina/io/native/native_source.hpp>
#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using Catch::Contains;

TEST_CASE("native records: what is not written is refused with the operator and its place") {
  constexpr auto rows = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 3>(main);
    auto first = layer::slice<layer::along<1, 0, 1>>(x);
    return layer::if_else(
        layer::greater_than(first, layer::scale(first, 0.5f)),
        [&](auto& yes) { return layer::fc<2>(yes.input(x)); },
        [&](auto& no) { return layer::tanh(layer::fc<2>(no.input(x))); });
  });
  const std::string file = lamina::to_proto(same_program::as_saved(rows.view()));
  const lamina::loaded_program read(lamina::from_proto(file, "net/__model__"), "net/__model__");
  CHECK_THROWS_AS(lamina::native_source(read), lamina::format_error);
  CHECK_THROWS_WITH(
      lamina::native_source(read),
      Contains("net/__model__, offset ") &&
          Contains("expected all rows in each operator, found those that a condition or a time "
                   "step chooses (operator 3 of block 0, 'split_lod_tensor')"));

  lamina::program_message m = same_program::as_saved(lenet.view());
  const auto refused = [&](const lamina::program_message& changed) {
    try {
      return lamina::native_source(lamina::loaded_program(changed, "m"));
    } catch (const lamina::format_error& e) {
      return std::string(e.what());
    }
  };
  auto changed = m;
  for (lamina::variable_message& v : changed.blocks[0].variables)
    if (v.name == "image") v.dims[2] = -1;
  CHECK_THAT(refused(changed), Contains("known dimensions of the input 'image', found [-1, 1, -1"));
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
