// SPDX-License-Identifier: Apache-2.0
// mnist_mlp - a perceptron of three layers on MNIST; takes the folder of the IDX files
#include <cstdio>

#include "../helpers/mnist_folder.hpp"

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;
using lamina::activation;

constexpr auto perceptron = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 784>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h1 = layer::fc<128>(image, {.act = activation::relu});
  auto h2 = layer::fc<64>(h1, {.act = activation::relu});
  auto logits = layer::fc<10>(h2, {.name = "output"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

// Trains on one reader, tests on the other; returns whether the accuracy is what it should be.
bool train_and_test(auto train, auto test) {
  std::printf("%zu images to train with, %zu to test\n", train.size(), test.size());
  constexpr int passes = 10;
  lamina::model model{perceptron};
  lamina::optimizer::adam{.learning_rate = 1e-3f}.train(
      model, train | reader::shuffle(train.size(), 1) | reader::batch(32),
      {.passes = passes, .on_event = lamina::progress_bar{passes}});
  const auto result = lamina::evaluator{model}.test(test | reader::batch(64));
  std::printf("test accuracy %.4f\n", result.metric("accuracy"));
  return result.metric("accuracy") >= 0.95;
}

int main(int count, char** argument) {
  return examples::with_mnist(
      count, argument, [](auto train, auto test, auto) { return train_and_test(train, test); });
}
