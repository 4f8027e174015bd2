// SPDX-License-Identifier: Apache-2.0
// Repeated layers come back as functions, with their names and the same bits.
#include <codegen/imported/towers.imported>
#include <codegen/imported_program.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/program/indexed.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using imported_program::path_of;
using imported_program::random_tensor;
using imported_program::text_of;
using lamina::activation;
using lamina::indexed;

namespace { namespace recorded {

// Residual blocks without names, a transformer's layers with names, and a tower of LSTMs.
constexpr auto towers = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 4, 6, 6>(main);
  auto h = layer::relu(image);
  for (int i = 0; i < 4; ++i) {
    const auto normed = [](auto x, activation act) {
      auto y = layer::conv2d<4, 3, lamina::window{.padding = 1}>(x, {.bias = false});
      return layer::batch_norm(y, {.act = act, .is_test = true});
    };
    h = layer::elementwise_add(normed(normed(h, activation::relu), activation::identity), h,
                               {.act = activation::relu});
  }
  auto tokens = layer::reshape<6, 24>(h);
  for (int i = 0; i < 3; ++i) {
    auto x = layer::layer_norm<2>(tokens, {.name = indexed("block", i, "norm")});
    auto mixed = layer::scaled_dot_product_attention<2>(x, x, x);
    tokens = tokens + layer::fc<24, 2>(mixed, {.name = indexed("block", i, "mixed")});
    auto inner = layer::fc<32, 2>(layer::layer_norm<2>(tokens),
                                  {.act = activation::relu, .name = indexed("block", i, "inner")});
    tokens = tokens + layer::fc<24, 2>(inner, {.name = indexed("block", i, "outer")});
  }
  auto words = layer::sequence<"words", float, 8>(main);
  auto x = layer::fc<16>(words);
  for (int i = 0; i < 6; ++i)
    x = layer::fc<16>(std::tuple{x, std::get<0>(layer::dynamic_lstm<16>(x))});
  return std::tuple{layer::fc<3>(tokens, {.name = "scores"}), layer::sequence_pool(x)};
});

}  // namespace recorded

}  // namespace

TEST_CASE("imported towers: repeated layers are functions, with the same names and bits") {
  imported_program::compare(
      "towers", recorded::towers, towers,
      {{"image", random_tensor({2, 4, 6, 6})},
       {"words", lamina::lod_tensor(random_tensor({5, 8}), lamina::lod::from_lengths({{2, 3}}))}});
  const std::string text = text_of(decltype(recorded::towers)::view(), "towers");
  for (const char* times : {"// Called 3 times.\n", "// Called 4 times.\n", "// Called 6 times.\n"})
    CHECK_THAT(text, Contains(times));
}

// ./test "imported towers: write the header" after a change of the text.
TEST_CASE("imported towers: write the header", "[.]") {
  lamina::write_file(path_of("towers"), text_of(decltype(recorded::towers)::view(), "towers"));
}
