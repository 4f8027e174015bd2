// SPDX-License-Identifier: Apache-2.0
// vgg - thirteen convolutions in five groups on CIFAR-10; takes the folder of the binary files
//
//   examples/run vgg [DIRECTORY]
//
// Without a directory it learns the direction of waves.
#include <cstdio>

#include "cifar_folder.hpp"

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;
using lamina::activation;

// Convolutions of 3 by 3 with batch_norm, then a pool of 2 by 2.
template <int... Filters>
constexpr auto group(auto x) {
  return layer::img_conv_group<2, lamina::window{.stride = 2}, Filters...>(
      x, {.act = activation::relu, .batch_norm = true});
}

// Simonyan and Zisserman (2014), as in PaddlePaddle's book, where the width is 64.
constexpr int width = 16;
constexpr auto vgg = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 3, 32, 32>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto x2 = group<width, width>(image);
  auto x4 = group<2 * width, 2 * width>(x2);
  auto x8 = group<4 * width, 4 * width, 4 * width>(x4);
  auto x16 = group<8 * width, 8 * width, 8 * width>(x8);
  auto x32 = group<8 * width, 8 * width, 8 * width>(x16);
  auto hidden = layer::fc<8 * width>(x32, {.act = activation::relu});
  auto logits = layer::fc<10>(hidden, {.name = "output"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

// Trains on one reader, tests on the other; returns whether the accuracy is what it should be.
bool train_and_test(auto train, auto test, bool real) {
  std::printf("%zu images to train with, %zu to test\n", train.size(), test.size());
  const int passes = real ? 20 : 10;
  lamina::model model{vgg};
  lamina::optimizer::adam{.learning_rate = 1e-3f}.train(
      model, train | reader::shuffle(train.size(), 1) | reader::batch(32),
      {.passes = passes, .on_event = lamina::progress_bar{passes}});
  const auto result = lamina::evaluator{model}.test(test | reader::batch(64));
  std::printf("test accuracy %.4f\n", result.metric("accuracy"));
  return result.metric("accuracy") >= (real ? 0.8 : 0.85);
}

int main(int count, char** argument) {
  return examples::with_cifar(count, argument, [](auto train, auto test, bool real) {
    return train_and_test(train, test, real);
  });
}
