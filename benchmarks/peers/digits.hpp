// SPDX-License-Identifier: Apache-2.0
// lamina/benchmarks/peers/digits.hpp - reads the images of digits for programs of other libraries,
// which do not contain them.
#pragma once

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace peer {

/// Images of 64 pixels, one after the other, and the label of each image.
struct digits {
  std::vector<float> pixels;
  std::vector<int> labels;
};

/// Reads a file with a line of 65 numbers per image: the pixels and the label.
inline digits read_digits(const char* path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "r"), std::fclose);
  if (!file) throw std::runtime_error(std::string("cannot read ") + path);
  digits all;
  float x = 0;
  for (int i = 0; std::fscanf(file.get(), "%f%*1[, ]", &x) == 1; i = (i + 1) % 65)
    if (i < 64)
      all.pixels.push_back(x);
    else
      all.labels.push_back(static_cast<int>(x));
  return all;
}

}  // namespace peer
