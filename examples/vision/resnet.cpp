// SPDX-License-Identifier: Apache-2.0
// resnet - a residual network on CIFAR-10; takes the folder of the binary files
//
//   examples/run resnet [DIRECTORY]
//   examples/run resnet --cuda [DIRECTORY]     on a GPU; defines EXAMPLE_CUDA
//
// Without a directory it learns the direction of waves.
// clang-format off
#include "../helpers/cuda_place.hpp"  // before all others
// clang-format on

#include <cstdio>

#include "cifar_folder.hpp"

namespace layer = lamina::layer;
namespace reader = lamina::reader;

// He et al. (2015), section 4.2, as in PaddlePaddle's book: three stages of two blocks.
constexpr auto resnet = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 3, 32, 32>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto fine = layer::conv_bn<16, 3, lamina::window{.padding = 1}>(image);
  fine = layer::basic_block<16>(layer::basic_block<16>(fine));
  auto middle = layer::basic_block<32>(layer::basic_block<32, 2>(fine));
  auto coarse = layer::basic_block<64>(layer::basic_block<64, 2>(middle));
  auto mean = layer::global_pool2d(coarse, {.type = lamina::pooling_type::average});
  auto logits = layer::fc<10>(mean, {.name = "output"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

// Trains on one reader, tests on the other; returns whether the accuracy is what it should be.
bool train_and_test(auto train, auto test, bool real) {
  std::printf("%zu images to train with, %zu to test\n", train.size(), test.size());
  const int passes = real ? 20 : 4;
  lamina::model model{resnet};
  lamina::optimizer::momentum{.learning_rate = 0.05f, .momentum = 0.9f}.train(
      model, train | reader::shuffle(train.size(), 1) | reader::batch(32),
      {.passes = passes, .on_event = lamina::progress_bar{passes}, .place = examples::place});
  const auto result = lamina::evaluator{model}.test(test | reader::batch(64));
  std::printf("test accuracy %.4f\n", result.metric("accuracy"));
  return result.metric("accuracy") >= (real ? 0.8 : 0.9);
}

int main(int count, char** argument) {
  return examples::with_cifar(count, argument, [](auto train, auto test, bool real) {
    return train_and_test(train, test, real);
  });
}
