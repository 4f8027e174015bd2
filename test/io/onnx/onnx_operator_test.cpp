// SPDX-License-Identifier: Apache-2.0
// Operators of a user replace others in a graph.
#include <map>
#include <string>

#include "io/onnx/parsed_graph.hpp"
#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>
#include <executor/shared_executor.hpp>

#include <lamina/io/export_onnx.hpp>
#include <lamina/io/onnx/onnx_operator.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/block/layer_conditional.hpp>
#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/operators/control/rnn/layer_static.hpp>

namespace layer = lamina::layer;
using lamina::block;
using parsed_graph::parsed;

TEST_CASE("export_onnx: operators of one's own replace others") {
  constexpr auto activated = lamina::program(
      [](block& main) { return layer::hard_swish(layer::data<"x", float, 4>(main)); });
  lamina::onnx_operators mine = lamina::known_onnx_operators();
  mine.add("hard_swish", [](lamina::onnx_operator& op) {
    op.program().graph.node("MySwish", {op.in("X")}, {op.program().write(op.name("Out"))},
                            {{"offset", op.real("offset")}}, "my.domain");
  });
  const parsed found(lamina::to_onnx(activated.view(), lamina::scope(), {},
                                     {.operators = &mine, .domains = {{"my.domain", 3}}}));
  CHECK(found.nodes == std::map<std::string, int>{{"MySwish", 1}});
  CHECK(found.domains == std::map<std::string, std::int64_t>{{"my.domain", 3}});
}
