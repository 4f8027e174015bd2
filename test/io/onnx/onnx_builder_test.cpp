// SPDX-License-Identifier: Apache-2.0
// Loops and branches are graphs of their own.

#include "io/onnx/parsed_graph.hpp"
#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>
#include <executor/shared_executor.hpp>

#include <lamina/executor/executor.hpp>
#include <lamina/io/export_onnx.hpp>
#include <lamina/io/onnx/onnx_builder.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/block/layer_conditional.hpp>
#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/operators/control/rnn/layer_static.hpp>
#include <lamina/tensor/scope.hpp>

namespace layer = lamina::layer;
using lamina::block;
using parsed_graph::parsed;

TEST_CASE("export_onnx: loops and branches are graphs of their own, each value is written once") {
  constexpr auto looped = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 3>(main);
    auto i = layer::fill_constant<std::int64_t>(main, 0),
         n = layer::fill_constant<std::int64_t>(main, 5);
    auto going = layer::less_than(i, n);
    auto h = layer::scale(x, 2);
    layer::while_loop(going, [&](block& body) {
      layer::conditional_block(
          layer::greater_than(layer::mean(h), layer::fill_constant<float>(body, 0)),
          [&](block&) { h = layer::tanh(layer::fc<3>(h)); });
      layer::increment(i);
      layer::less_than(i, n, going);
    });
    return std::tuple{h, i};
  });
  lamina::scope scope;
  lamina::executor().run_startup(looped.view(), scope, 1);
  const parsed found(lamina::to_onnx(looped.view(), scope));
  CHECK(found.nodes.at("Loop") == 1);
  CHECK(found.nodes.at("If") == 1);
  CHECK(found.nodes.at("MatMul") == 1);
  CHECK((found.each_once && found.each_before));
  CHECK(found.outputs.size() == 2);
}
