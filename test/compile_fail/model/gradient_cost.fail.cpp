// SPDX-License-Identifier: Apache-2.0
// Gradients of a program without a cost.
// expect-error: static.assert.*train: the program returns no cost
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/model/gradient_machine.hpp>
#include <lamina/operators/loss/cross_entropy/layer_softmax.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 8>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto logits = layer::fc<4>(image, {.name = "output"});
#ifdef SHOULD_FAIL
  layer::mean(layer::softmax_with_cross_entropy(logits, label));
#else
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
#endif
});

int main() {
  lamina::model m{net};
  lamina::gradient_machine g{m};  // <- here
  return g.gradient_memory(0) != nullptr;
}
