// SPDX-License-Identifier: Apache-2.0
// Which model a call makes: of a program, of another model, with a seed and with what it shares.
#include <type_traits>
#include <utility>

#include <catch2/catch.hpp>

#include <lamina/layers/data.hpp>
#include <lamina/model/model.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>

using namespace lamina;

namespace {

constexpr auto net = program([](block& main) {
  auto x = layer::data<"x", float, 2>(main);
  return layer::mean(layer::fc<3>(x, {.name = "output"}));
});
using expected = model<std::remove_const_t<decltype(net)>>;

TEST_CASE("a model is that of its program, whatever follows") {
  model plain{net};
  model seeded{net, 7};
  model sharing{net, share_parameters_of<"output">(seeded)};
  model both{net, share_parameters_of<"output.b_0">(plain), share_parameters_of(seeded), 9u};
  STATIC_REQUIRE(std::is_same_v<decltype(plain), expected>);
  STATIC_REQUIRE(std::is_same_v<decltype(seeded), expected>);
  STATIC_REQUIRE(std::is_same_v<decltype(sharing), expected>);
  STATIC_REQUIRE(std::is_same_v<decltype(both), expected>);
  const auto weight = [](const expected& m) { return m.parameter<"output.w_0">()(0, 0); };
  CHECK(weight(plain) == weight(model{net, 1}));
  CHECK(weight(plain) != weight(seeded));
  CHECK(weight(seeded) == weight(model{net, 7}));
  CHECK(weight(sharing) == weight(seeded));
  CHECK(weight(both) == weight(seeded));
  CHECK(both.memory()[0] == seeded.memory()[0]);
  CHECK(both.memory()[1] == plain.memory()[1]);
}

TEST_CASE("a model that is moved keeps its type and its memory") {
  model first{net, 7};
  const float* memory = first.memory()[0];
  model second{std::move(first)};
  model third = std::move(second);
  STATIC_REQUIRE(std::is_same_v<decltype(second), expected>);
  STATIC_REQUIRE(std::is_same_v<decltype(third), expected>);
  STATIC_REQUIRE(!std::is_copy_constructible_v<expected>);
  CHECK(third.memory()[0] == memory);
}

TEST_CASE("what is neither a program nor a model makes none") {
  STATIC_REQUIRE(std::is_same_v<detail::modelled_in<int>, detail::no_program>);
  STATIC_REQUIRE(std::is_same_v<detail::modelled_in<left_out>, detail::no_program>);
  STATIC_REQUIRE(std::is_same_v<detail::modelled_in<expected>, expected::program>);
}

}  // namespace
