// SPDX-License-Identifier: Apache-2.0
// Constants and random numbers that a program makes: engine against executor.
#include <tuple>

#include "executor/run_program.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/compared_operators.hpp>
#include <operators/fill/held_values.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/array/layer.hpp>
#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/transform/append_backward.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::law::check_engine;

namespace {

constexpr auto held = program([](block& main) {
  auto y = rows::three_values(main);
  auto x = layer::data<"x", float, 3>(main);
  return std::tuple{layer::mean(layer::square(x)), y, layer::elementwise_mul(x, y)};
});

}  // namespace

TEST_CASE("values that a program holds are those of the executor") { check_engine(held); }
