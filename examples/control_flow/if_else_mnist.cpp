// SPDX-License-Identifier: Apache-2.0
// if_else_mnist - rows that take one of two ways through the net; takes the folder of MNIST's files
//
// Fluid's example of IfElse: digits below 5 go through a narrow net, the others through a wide one.
// The condition reads the label, in the test too, so the answer is half known: this shows how rows
// are split and merged, and is no better way to read digits.
#include <cstdint>
#include <cstdio>

#include "../helpers/mnist_folder.hpp"

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;
using lamina::activation;

// A net with a hidden layer; each branch has one of its own.
template <int Hidden>
constexpr auto probabilities_of = [](auto image) {
  auto hidden = layer::fc<Hidden>(image, {.act = activation::tanh});
  return layer::fc<10>(hidden, {.act = activation::softmax});
};

constexpr auto two_ways = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 784>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto is_low = layer::less_than(label, layer::fill_constant<std::int64_t>(main, 5));
  auto probabilities = layer::if_else(
      is_low, [&](auto& low) { return probabilities_of<100>(low.input(image)); },
      [&](auto& high) { return probabilities_of<200>(high.input(image)); });
  layer::accuracy(probabilities, label, {.name = "accuracy"});
  return layer::mean(layer::cross_entropy(probabilities, label));
});

// Trains on one reader, tests on the other; returns whether the accuracy is what it should be.
bool train_and_test(auto train, auto test) {
  std::printf("%zu images to train with, %zu to test\n", train.size(), test.size());
  constexpr int passes = 10;
  lamina::model model{two_ways};
  lamina::optimizer::momentum{.learning_rate = 0.02f, .momentum = 0.9f}.train(
      model, train | reader::shuffle(train.size(), 1) | reader::batch(64),
      {.passes = passes, .on_event = lamina::progress_bar{passes}});
  const auto result = lamina::evaluator{model}.test(test | reader::batch(64));
  std::printf("test accuracy %.4f\n", result.metric("accuracy"));
  return result.metric("accuracy") >= 0.95;
}

int main(int count, char** argument) {
  return examples::with_mnist(
      count, argument, [](auto train, auto test, auto) { return train_and_test(train, test); });
}
