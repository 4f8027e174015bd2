// SPDX-License-Identifier: Apache-2.0
// W1: a training step of a perceptron 784-128-64-10 with relu, softmax cross entropy and SGD at
// batch 64; W1f its forward pass at batch 64, W1b at batch 1.
#include "../classifier.hpp"

namespace layer = lamina::layer;
using lamina::activation;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 784>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h1 = layer::fc<128>(image, {.act = activation::relu});
  auto h2 = layer::fc<64>(h1, {.act = activation::relu});
  auto logits = layer::fc<10>(h2, {.name = "logits"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

int main(int count, char** argument) {
  const workload::classifier w(net, {784});
  return workload::serve(count, argument,
                         {{"W1", w.train(64)}, {"W1f", w.infer(64)}, {"W1b", w.infer(1)}});
}
