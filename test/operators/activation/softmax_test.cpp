// SPDX-License-Identifier: Apache-2.0
// softmax: gradients, and the engine against the executor.
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
constexpr auto softmaxes = program([](block& main) {
  auto x = layer::data<"x", float, W>(main);
  auto maps = layer::data<"maps", float, 3, W, 2>(main);
  auto a = layer::softmax(x * 3.0);
  auto b = layer::softmax(maps);
  auto c = layer::softmax<1>(maps);
  auto d = layer::softmax<2>(maps);
  auto cost = layer::mean(a * a) + layer::mean(b * b) + layer::mean(c * c) + layer::mean(d * d);
  return std::tuple{cost, a, b, c, d};
});

}  // namespace

TEST_CASE("softmax on the engine is that of the executor") {
  check_engine(softmaxes<1>);
  check_engine(softmaxes<5>);
  check_engine(softmaxes<33>);
}

TEST_CASE("gradient: softmax along the last and along an inner dimension") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 3, 4>(main);
    return layer::mean(layer::square(layer::softmax(x) * x + layer::softmax<1>(x)));
  }));
}
