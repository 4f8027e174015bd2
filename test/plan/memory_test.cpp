// SPDX-License-Identifier: Apache-2.0
// Memory of a plan is reused.

#include <catch2/catch.hpp>

#include <lamina/inspect/plan_text.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/optimizer/training_program.hpp>
#include <lamina/plan/memory.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace layer = lamina::layer;
using lamina::activation;

namespace {

constexpr auto deep = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 64>(main);
  auto y = layer::data<"y", std::int64_t>(main);
  auto h = x;
  for (int i = 0; i < 16; ++i) h = layer::fc<64>(h, {.act = activation::relu});
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<10>(h), y));
});

constexpr lamina::optimizer::sgd sgd{};

}  // namespace

TEST_CASE("memory is reused: at most 60 percent of one place a variable") {
  using training = decltype(lamina::transform::minimize(deep, sgd));
  STATIC_REQUIRE(lamina::plan<training>::planned_bytes * 10 <=
                 lamina::plan<training>::unshared_bytes * 6);
}
