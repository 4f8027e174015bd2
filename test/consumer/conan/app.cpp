// SPDX-License-Identifier: Apache-2.0
// Trains a line for a pass over the digits, and expects it to know most of those that it has not
// seen.
#include <cstdio>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;

constexpr auto digits = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 64>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto logits = layer::fc<10>(image);
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

int main() {
  lamina::model model{digits};
  lamina::optimizer::adam adam{.learning_rate = 0.01f};
  adam.train(model, lamina::dataset::digits::train() | reader::shuffle(2000) | reader::batch(16),
             {.passes = 1});
  const float accuracy = lamina::evaluator{model}
                             .test(lamina::dataset::digits::test() | reader::batch(64))
                             .metric("accuracy");
  std::printf("accuracy %.3f\n", static_cast<double>(accuracy));
  return accuracy > 0.7f ? 0 : 1;
}
