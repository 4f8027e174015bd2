// SPDX-License-Identifier: Apache-2.0
// cifar_folder.hpp - which images the examples on CIFAR-10 train and test with.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <numbers>
#include <random>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/dataset/cifar.hpp>

namespace examples {

namespace cifar = lamina::dataset::cifar;

/// Images without a file: waves in noise, whose class is their direction, one of ten. Their phase,
/// length and colours are random.
inline std::vector<cifar::sample> waves(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> noise(0.f, 0.1f);
  std::uniform_real_distribution<float> uniform(0.f, 1.f);
  std::vector<cifar::sample> made(count);
  for (std::size_t i = 0; i < count; ++i) {
    made[i].label = static_cast<std::int64_t>(i % 10);
    const float angle = static_cast<float>(i % 10) * std::numbers::pi_v<float> / 10;
    const float frequency = 0.7f + 0.4f * uniform(random), phase = 6.3f * uniform(random);
    for (std::size_t c = 0; c < 3; ++c) {
      const float strength = 0.1f + 0.3f * uniform(random);
      for (std::size_t p = 0; p < 1024; ++p) {
        const float along = std::cos(angle) * static_cast<float>(p % 32) +
                            std::sin(angle) * static_cast<float>(p / 32);
        made[i].image[c * 1024 + p] =
            0.5f + strength * std::sin(frequency * along + phase) + noise(random);
      }
    }
  }
  return made;
}

/// Calls `run` with images to train with, images to test with and whether they are real, as the
/// arguments of main say; returns what main returns: 0 if `run` was true.
int with_cifar(int count, char** argument, auto run) try {
  if (count > 1) {
    const char* directory = argument[1];
    return run(cifar::train10(directory), cifar::test10(directory), true) ? 0 : 1;
  }
  std::puts(
      "no directory given: expected one with data_batch_1.bin to data_batch_5.bin and\n"
      "test_batch.bin, the binary version of CIFAR-10; using waves in noise");
  return run(waves(640, 1), waves(200, 2), false) ? 0 : 1;
} catch (const lamina::error& e) {
  std::puts(e.what());
  return 1;
}

}  // namespace examples
