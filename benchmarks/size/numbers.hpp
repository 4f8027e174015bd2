// SPDX-License-Identifier: Apache-2.0
// lamina/benchmarks/size/numbers.hpp - the parameters, the image and the scores of the programs
// that benchmarks/size.py compares.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace size_benchmark {

constexpr int inputs = 64, hidden = 128, outputs = 10;
constexpr int parameters = inputs * hidden + hidden + hidden * outputs + outputs;

/// Reads the weights and biases, layer by layer, row-major with a row per input.
inline void read(const char* path, float (&values)[parameters]) {
  std::FILE* const file = std::fopen(path, "rb");
  if (file == nullptr || std::fread(values, sizeof(float), parameters, file) != parameters) {
    std::perror(path);
    std::exit(1);
  }
  std::fclose(file);
}

/// The brightness of a pixel of the image.
inline float pixel(int i) { return static_cast<float>(i) / inputs; }

/// Prints the score of a class.
inline void print(float score) { std::printf("%.6g\n", static_cast<double>(score)); }

}  // namespace size_benchmark
