// SPDX-License-Identifier: Apache-2.0
// An activation of a layer that the program does not have.
// expect-error: static.assert.*activation: the program has no layer or variable of this name
// expect-fact: named<'o', 'u', 't'>
// expect-fact: the_program_has<.*named<'o', 'u', 't', 'p', 'u', 't'>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/operators/loss/cross_entropy/layer_softmax.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 8>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto logits = layer::fc<4>(image, {.name = "output"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

int main() {
  lamina::model m{net};
  lamina::evaluator e{m};
#ifdef SHOULD_FAIL
  auto scores = e.activation<"out">();  // <- here
#else
  auto scores = e.activation<"output">();
#endif
  return scores.size() == 0;
}
