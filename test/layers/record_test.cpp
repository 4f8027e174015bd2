// SPDX-License-Identifier: Apache-2.0
// Operators by their slots and attributes are those that layers record.
#include <array>

#include <catch2/catch.hpp>
#include <codegen/same_program.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

namespace {

using images = lamina::variable<float, lamina::batch, 4, 5, 5>;

constexpr auto by_layers = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4, 5, 5>(main);
  auto y = layer::data<"y", float, 3>(main);
  auto scaled = layer::lrn(x, {.n = 3, .alpha = 0.5f, .name = "lrn"});
  auto joined = layer::concat<1>(std::tuple{y, y}, {.name = "both"});
  auto [most, where] = layer::topk<2>(joined, {.name = "most"});
  auto cut = layer::slice<layer::along<1, 0, 2>>(y, {.name = "cut"});
  auto drawn = layer::gaussian_random<2, 3>(main, {.std = 2, .seed = 5, .name = "drawn"});
  return std::tuple{scaled, most, cut, drawn};
});

constexpr auto by_records = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4, 5, 5>(main);
  auto y = layer::data<"y", float, 3>(main);
  auto [scaled, middle] = layer::record<lamina::operators::lrn>(
      main, "lrn", layer::in("X", x), layer::set("alpha", 0.5f), layer::set("n", 3),
      layer::set("k", 1), layer::out<images>("Out"), layer::out<images>("MidOut"));
  auto joined = layer::record<lamina::operators::concat>(
      main, "both", layer::in("X", y, y), layer::set("axis", 1),
      layer::out<lamina::variable<float, lamina::batch, 6>>("Out"));
  auto [most, where] = layer::record<lamina::operators::top_k>(
      main, "most", layer::in("X", joined), layer::set("k", 2),
      layer::out<lamina::variable<float, lamina::batch, 2>>("Out"),
      layer::out<lamina::variable<std::int64_t, lamina::batch, 2>>("Indices"));
  auto cut = layer::record<lamina::operators::slice>(
      main, "cut", layer::in("Input", y), layer::set("axes", std::array{1}),
      layer::set("starts", std::array{0}), layer::set("ends", std::array{2}),
      layer::out<lamina::variable<float, lamina::batch, 2>>("Out"));
  auto drawn = layer::record<lamina::operators::gaussian_random>(
      main, "drawn", layer::set("shape", std::array{2, 3}), layer::set("dtype", 5),
      layer::set("mean", 0), layer::set("std", 2), layer::set("seed", 5),
      layer::out<lamina::variable<float, lamina::once, 2, 3>>("Out"));
  return std::tuple{scaled, most, cut, drawn};
});

}  // namespace

TEST_CASE("record: operators by slots and attributes are those of layers") {
  CHECK(same_program::comparison::of(same_program::as_saved(by_layers.view()),
                                     same_program::as_saved(by_records.view())) == "");
}

TEST_CASE("record: programs that differ are told apart") {
  const auto is_told = [](auto change) {
    lamina::program_message m = same_program::as_saved(by_layers.view());
    change(m.blocks[0]);
    return !same_program::comparison::of(same_program::as_saved(by_layers.view()), m).empty();
  };
  CHECK_FALSE(is_told([](lamina::block_message&) {}));
  CHECK(is_told([](lamina::block_message& b) { b.operators.pop_back(); }));
  CHECK(is_told([](lamina::block_message& b) { b.operators[2].type = "relu"; }));
  CHECK(is_told([](lamina::block_message& b) { b.operators[2].attributes[0].integer += 1; }));
  CHECK(is_told([](lamina::block_message& b) { b.operators[3].inputs[0].arguments.pop_back(); }));
  CHECK(is_told([](lamina::block_message& b) { b.operators[2].inputs[0].arguments[0] = "y"; }));
  CHECK(is_told([](lamina::block_message& b) {
    for (lamina::variable_message& v : b.variables)
      if (v.name == "cut.tmp_0") v.dims[1] = 3;
  }));
}
