// SPDX-License-Identifier: Apache-2.0
// if_else_mnist - rows that take one of two ways through the net; takes the folder of MNIST's files
//
// Fluid's example of IfElse: digits below 5 go through a narrow net, the others through a wide one.
// The condition reads the label, in the test too, so the answer is half known: this shows how rows
// are split and merged, and is no better way to read digits.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <lamina/dataset/mnist.hpp>
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;
namespace mnist = lamina::dataset::mnist;
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

// A bundled digit, 8 x 8 from 0 to 1, as MNIST has it: 28 x 28 from -1 to 1.
mnist::sample enlarged(const lamina::dataset::digits::sample& digit) {
  mnist::sample s{{}, digit.label};
  s.image.fill(-1);
  for (std::size_t y = 0; y < 24; ++y)
    for (std::size_t x = 0; x < 24; ++x)
      s.image[(y + 2) * 28 + x + 2] = 2 * digit.image[y / 3 * 8 + x / 3] - 1;
  return s;
}

int main(int count, char** argument) try {
  if (count < 2) {
    std::puts(
        "no directory given: expected one with t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte,\n"
        "and the same of train-, each plain or with .gz; using the bundled digits, enlarged");
    std::vector<mnist::sample> train, test;
    for (const auto& s : lamina::dataset::digits::train()) train.push_back(enlarged(s));
    for (const auto& s : lamina::dataset::digits::test()) test.push_back(enlarged(s));
    return train_and_test(train, test) ? 0 : 1;
  }
  const std::string directory = argument[1];
  const auto has = [&](const char* name) {
    return std::filesystem::exists(std::filesystem::path(directory) / name);
  };
  if (has("train-images-idx3-ubyte") || has("train-images-idx3-ubyte.gz"))
    return train_and_test(mnist::train(directory), mnist::test(directory)) ? 0 : 1;
  const auto halves = mnist::split_test(directory);
  return train_and_test(halves.train, halves.test) ? 0 : 1;
} catch (const lamina::error& e) {
  std::puts(e.what());
  return 1;
}
