// SPDX-License-Identifier: Apache-2.0
// helpers/mnist_folder.hpp - which images the examples on MNIST train and test with.
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/dataset/digits.hpp>
#include <lamina/dataset/mnist.hpp>

namespace examples {

namespace mnist = lamina::dataset::mnist;

/// Where the images come from: how much a net can learn depends on it.
enum class mnist_source {
  bundled,   // no folder given: digits of 8 x 8, enlarged
  test_set,  // the t10k files alone, split in two
  all
};

/// A bundled digit, 8 x 8 from 0 to 1, as MNIST has it: 28 x 28 from -1 to 1.
inline mnist::sample enlarged(const lamina::dataset::digits::sample& digit) {
  mnist::sample s{{}, digit.label};
  s.image.fill(-1);
  for (std::size_t y = 0; y < 24; ++y)
    for (std::size_t x = 0; x < 24; ++x)
      s.image[(y + 2) * 28 + x + 2] = 2 * digit.image[y / 3 * 8 + x / 3] - 1;
  return s;
}

/// Calls `run` with images to train with, images to test with and their mnist_source, as the
/// arguments of main say; returns what main returns: 0 if `run` was true.
int with_mnist(int count, char** argument, auto run) try {
  if (count < 2) {
    std::puts(
        "no directory given: expected one with t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte,\n"
        "and the same of train-, each plain or with .gz; using the bundled digits, enlarged");
    std::vector<mnist::sample> train, test;
    for (const auto& s : lamina::dataset::digits::train()) train.push_back(enlarged(s));
    for (const auto& s : lamina::dataset::digits::test()) test.push_back(enlarged(s));
    return run(train, test, mnist_source::bundled) ? 0 : 1;
  }
  const std::string directory = argument[1];
  const auto has = [&](const char* name) {
    return std::filesystem::exists(std::filesystem::path(directory) / name);
  };
  if (has("train-images-idx3-ubyte") || has("train-images-idx3-ubyte.gz"))
    return run(mnist::train(directory), mnist::test(directory), mnist_source::all) ? 0 : 1;
  const auto halves = mnist::split_test(directory);
  return run(halves.train, halves.test, mnist_source::test_set) ? 0 : 1;
} catch (const lamina::error& e) {
  std::puts(e.what());
  return 1;
}

}  // namespace examples
