// SPDX-License-Identifier: Apache-2.0
// lenet - two convolutions on MNIST; takes the folder of the IDX files
//
//   examples/run lenet [DIRECTORY]
//
// DIRECTORY holds t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, and perhaps the same of
// train-, each plain or with .gz. Without it the program learns from the bundled digits, enlarged.
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
  lamina::optimizer::adam{.learning_rate = 1e-3f}.train(
      model, train | reader::shuffle(train.size(), 1) | reader::batch(64),
      {.passes = passes, .on_event = lamina::progress_bar{passes}});
  const auto result = lamina::evaluator{model}.test(test | reader::batch(64));
  std::printf("test accuracy %.4f\n", result.metric("accuracy"));
  return result.metric("accuracy") >= least;
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
    std::puts("no directory given: using the bundled digits, enlarged");
    std::vector<mnist::sample> train, test;
    for (const auto& s : lamina::dataset::digits::train()) train.push_back(enlarged(s));
    for (const auto& s : lamina::dataset::digits::test()) test.push_back(enlarged(s));
    return train_and_test(train, test, 5, 0.95) ? 0 : 1;
  }
  const std::string directory = argument[1];
  const auto has = [&](const char* name) {
    return std::filesystem::exists(std::filesystem::path(directory) / name);
  };
  if (has("train-images-idx3-ubyte") || has("train-images-idx3-ubyte.gz"))
    return train_and_test(mnist::train(directory), mnist::test(directory), 5, 0.985) ? 0 : 1;
  const auto halves = mnist::split_test(directory);
  return train_and_test(halves.train, halves.test, 8, 0.98) ? 0 : 1;
} catch (const lamina::error& e) {
  std::puts(e.what());
  return 1;
}
