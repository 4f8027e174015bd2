// SPDX-License-Identifier: Apache-2.0
// lamina/benchmarks/npy.hpp - reads NumPy files for the C++ programs of other libraries, which do
// not use xtensor.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace peer {

/// An array of float or int64 in row-major order.
struct array {
  std::vector<std::int64_t> shape;
  std::vector<float> floats;
  std::vector<std::int64_t> integers;
};

inline array read_npy(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  char begin[10];
  if (!file.read(begin, 10)) throw std::runtime_error("cannot read " + path.string());
  std::string header(
      static_cast<unsigned char>(begin[8]) + 256u * static_cast<unsigned char>(begin[9]), ' ');
  file.read(header.data(), static_cast<std::streamsize>(header.size()));
  array a;
  std::size_t count = 1;
  const std::size_t from = header.find('(', header.find("shape")) + 1, to = header.find(')', from);
  for (std::size_t at = from; at < to; at = header.find(',', at) + 1) {
    if (header.find_first_of("0123456789", at) >= to) break;
    a.shape.push_back(std::stoll(header.substr(at, to - at)));
    count *= static_cast<std::size_t>(a.shape.back());
    if (header.find(',', at) >= to) break;
  }
  if (header.find("f4") != std::string::npos) {
    a.floats.resize(count);
    file.read(reinterpret_cast<char*>(a.floats.data()), static_cast<std::streamsize>(4 * count));
  } else {
    a.integers.resize(count);
    file.read(reinterpret_cast<char*>(a.integers.data()), static_cast<std::streamsize>(8 * count));
  }
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return a;
}

}  // namespace peer
