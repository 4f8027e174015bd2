// SPDX-License-Identifier: Apache-2.0
// Running sums: gradients, and the engine against the executor.
#include <tuple>

#include "executor/shared_executor.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::law::check_engine;

namespace {

template <int W>
constexpr auto running_sums = program([](block& main) {
  auto x = layer::data<"x", float, 3, W>(main);
  auto a = layer::cumsum(x);
  auto b = layer::cumsum<1>(x, {.exclusive = true});
  auto c = layer::cumsum<2>(x, {.exclusive = true, .reverse = true});
  return std::tuple{layer::mean(a * a) + layer::mean(b * b) + layer::mean(c * c), a, b, c};
});

}  // namespace

TEST_CASE("running sums on the engine are those of the executor") {
  check_engine(running_sums<5>);
  check_engine(running_sums<16>);
}

TEST_CASE("gradient: cumsum in both directions") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 4>(main);
    auto a = layer::cumsum(x) * x;
    return layer::mean(a + layer::square(layer::cumsum(x, {.exclusive = true, .reverse = true})));
  }));
}
