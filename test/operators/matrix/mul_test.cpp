// SPDX-License-Identifier: Apache-2.0
// mul: gradients, and the engine against the executor.
#include <tuple>

#include "executor/run_program.hpp"
#include "executor/shared_executor.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/compared_operators.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/transform/append_backward.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::law::check_engine;

namespace {

template <int W>
constexpr auto sequences = program([](block& main) {
  auto x = layer::data<"x", float, 3, W>(main);
  auto a = layer::fc<6, 2>(x, {.act = lamina::activation::tanh});
  auto b = layer::fc<W>(x, {.act = lamina::activation::relu});
  return std::tuple{layer::mean(a * a) + layer::mean(b * b), a, b};
});

}  // namespace

TEST_CASE("mul with several dimensions of rows on the engine is that of the executor") {
  check_engine(sequences<5>);
  check_engine(sequences<16>);
}

TEST_CASE("gradient: mul keeps leading dimensions") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2, 3>(main);
    return layer::mean(layer::square(layer::fc<4, 2>(x)));
  }));
}
