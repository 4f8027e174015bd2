// SPDX-License-Identifier: Apache-2.0
// The gradient of a parameter that the program does not have.
// expect-error: static.assert.*parameter: the program has no parameter of this name
// expect-fact: named<'f', 'c'>
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
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

int main() {
  lamina::model m{net};
  lamina::gradient_machine g{m};
#ifdef SHOULD_FAIL
  auto grad = g.gradient<"fc">();  // <- here
#else
  auto grad = g.gradient<"output.w_0">();
#endif
  return grad.size() == 0;
}
