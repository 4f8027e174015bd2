// SPDX-License-Identifier: Apache-2.0
// A loop as it stands in a file.
#include <catch2/catch.hpp>

#include <lamina/io/fluid/to_program_message.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

namespace {

using row = lamina::variable<float, lamina::batch, 3>;

// What a body does to variables around it.
constexpr auto loop_of_records = lamina::program([](lamina::block& main) {
  auto y = layer::data<"y", float, 3>(main);
  auto h = layer::scale(y, 1);
  auto more = layer::greater_than(layer::mean(h), layer::fill_constant<float>(main, 1));
  auto last = layer::declare<row>(main, "last");
  layer::record_block<lamina::operators::while_block>(
      main, "loop", more, false, [&](lamina::block& body) {
        auto next = layer::scale(h, 0.5f);
        layer::record<lamina::operators::assign>(body, "last", layer::in("X", h),
                                                 layer::into("Out", last));
        layer::record<lamina::operators::assign>(body, "h", layer::in("X", next),
                                                 layer::into("Out", h));
        auto again = layer::greater_than(layer::mean(next), layer::fill_constant<float>(body, 1));
        layer::record<lamina::operators::assign>(body, "m", layer::in("X", again),
                                                 layer::into("Out", more));
      });
  return std::tuple{h, last};
});

}  // namespace

TEST_CASE("record block: a loop writes the variables around it") {
  const lamina::program_message m = lamina::to_program_message(loop_of_records.view());
  REQUIRE(m.blocks.size() == 2);
  const lamina::operator_message& loop = m.blocks[0].operators.back();
  REQUIRE(loop.type == "while");
  CHECK(loop.input("Condition") == std::vector<std::string>{"greater_than_0.tmp_0"});
  CHECK(loop.output("Out") ==
        std::vector<std::string>{"last.tmp_0", "scale_0.tmp_0", "greater_than_0.tmp_0"});
  CHECK(m.blocks[1].parent == 0);
  CHECK(m.blocks[1].operators.size() == 7);
}
