// SPDX-License-Identifier: Apache-2.0
// An optimizer for a program without a cost.
// expect-error: static.assert.*train: the program returns no cost
// expect-lines: 12
#include <array>
#include <vector>

#include <lamina/layers/data.hpp>
#include <lamina/operators/loss/cross_entropy/layer_softmax.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/train/train.hpp>

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

struct sample {
  std::array<float, 8> image;
  std::int64_t label;
};

int main() {
  lamina::model m{net};
  const std::vector<std::vector<sample>> batches;
  lamina::optimizer::adam{}.train(m, batches);  // <- here
}
