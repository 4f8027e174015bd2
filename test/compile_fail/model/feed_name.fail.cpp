// SPDX-License-Identifier: Apache-2.0
// A feed for a data layer that the program does not have.
// expect-error: static.assert.*feed: the program has no data layer of this name
// expect-fact: named<'i', 'm', 'a', 'g', 'e', 's'>
// expect-fact: the_program_has<.*named<'i', 'm', 'a', 'g', 'e'>.*named<'l', 'a', 'b', 'e', 'l'>
// expect-lines: 12
#include <array>

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
  const std::array<float, 8> pixels{};
#ifdef SHOULD_FAIL
  e.forward(lamina::feed<"images">(pixels));  // <- here
#else
  e.forward(lamina::feed<"image">(pixels));
#endif
}
