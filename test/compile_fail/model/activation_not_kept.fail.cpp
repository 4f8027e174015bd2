// SPDX-License-Identifier: Apache-2.0
// An activation that the plan fused away.
// expect-error: static.assert.*activation: this variable is not kept
// expect-fact: named<'f', 'c', '_', '0', '.', 't', 'm', 'p', '_', '0'>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/operators/loss/cross_entropy/layer_softmax.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 8>(main);
  return layer::fc<4>(layer::fc<4>(image), {.name = "output"});
});

int main() {
  lamina::model m{net};
  lamina::evaluator e{m};
#ifdef SHOULD_FAIL
  auto scores = e.activation<"fc_0.tmp_0">();  // <- here
#else
  auto scores = e.activation<"output">();
#endif
  return scores.size() == 0;
}
