// SPDX-License-Identifier: Apache-2.0
// A feed of another element type than the data layer.
// expect-error: static.assert.*feed: the element type is that of the data layer
// expect-fact: expects_type<float>
// expect-fact: gets_type<double>
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
#ifdef SHOULD_FAIL
  const std::array<double, 8> pixels{};
  e.forward(lamina::feed<"image">(pixels));  // <- here
#else
  const std::array<float, 8> pixels{};
  e.forward(lamina::feed<"image">(pixels));
#endif
}
