// SPDX-License-Identifier: Apache-2.0
// lenet - two convolutions on MNIST; takes the folder of the IDX files
//
//   examples/run lenet [DIRECTORY]
//   examples/run lenet --cuda [DIRECTORY]     on a GPU; defines EXAMPLE_CUDA
//
// DIRECTORY holds t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, and perhaps the same of
// train-, each plain or with .gz. Without it the program learns from the bundled digits, enlarged.
// clang-format off
#include "helpers/cuda_place.hpp"  // before all others
// clang-format on

#include <cstdio>

#include "helpers/mnist_folder.hpp"

namespace layer = lamina::layer;
namespace reader = lamina::reader;
using lamina::activation;

// LeCun et al. (1998), as in PaddlePaddle's book.
constexpr auto lenet = lamina::program([](lamina::block& main) {
  constexpr lamina::window half{.stride = 2};
  auto image = layer::data<"image", float, 1, 28, 28>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto c1 = layer::simple_img_conv_pool<20, 5, 2, half>(image, {.act = activation::relu});
  auto c2 = layer::simple_img_conv_pool<50, 5, 2, half>(c1, {.act = activation::relu});
  auto hidden = layer::fc<500>(c2, {.act = activation::relu});
  auto logits = layer::fc<10>(hidden, {.name = "output"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

// Trains on one reader, tests on the other; returns whether the accuracy is what it should be.
bool train_and_test(auto train, auto test, int passes, double least) {
  std::printf("%zu images to train with, %zu to test\n", train.size(), test.size());
  lamina::model model{lenet};
  // The rate falls to 0: with a constant one the last mini-batches decide about a percent.
  const lamina::schedule::cosine_decay rate{
      .learning_rate = 1e-3f,
      .step_each_epoch = static_cast<int>((train.size() + 63) / 64),
      .epochs = passes};
  lamina::optimizer::adam{.learning_rate = rate}.train(
      model, train | reader::shuffle(train.size(), 1) | reader::batch(64),
      {.passes = passes, .on_event = lamina::progress_bar{passes}, .place = examples::place});
  const auto result = lamina::evaluator{model}.test(test | reader::batch(64));
  std::printf("test accuracy %.4f\n", result.metric("accuracy"));
  return result.metric("accuracy") >= least;
}

int main(int count, char** argument) {
  return examples::with_mnist(count, argument, [](auto train, auto test, auto source) {
    switch (source) {
      case examples::mnist_source::bundled:
        return train_and_test(train, test, 5, 0.95);
      case examples::mnist_source::test_set:
        return train_and_test(train, test, 8, 0.98);
      default:
        return train_and_test(train, test, 5, 0.985);
    }
  });
}
