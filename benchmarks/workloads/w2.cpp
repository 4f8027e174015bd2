// SPDX-License-Identifier: Apache-2.0
// W2: a training step of the LeNet of PaddlePaddle's book at batch 64 with SGD; W2i its inference
// at batch 64, W2i1 at batch 1.
#include "../classifier.hpp"

namespace layer = lamina::layer;
using lamina::activation;

constexpr auto net = lamina::program([](lamina::block& main) {
  constexpr lamina::window half{.stride = 2};
  auto image = layer::data<"image", float, 1, 28, 28>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto c1 = layer::simple_img_conv_pool<20, 5, 2, half>(image, {.act = activation::relu});
  auto c2 = layer::simple_img_conv_pool<50, 5, 2, half>(c1, {.act = activation::relu});
  auto hidden = layer::fc<500>(c2, {.act = activation::relu});
  auto logits = layer::fc<10>(hidden, {.name = "logits"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

int main(int count, char** argument) {
  const workload::classifier w(net, {1, 28, 28});
  return workload::serve(count, argument,
                         {{"W2", w.train(64)}, {"W2i", w.infer(64)}, {"W2i1", w.infer(1)}});
}
