// SPDX-License-Identifier: Apache-2.0
// test/docs/reference/show.hpp - runs a record function once and prints what it returns: for the
// examples of the reference.
#pragma once

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <vector>

#include <executor/shared_executor.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;
using lamina::block;

/// Rows of floats, a row per sample.
inline lamina::lod_tensor rows(std::initializer_list<std::vector<float>> all) {
  std::vector<float> values;
  for (const std::vector<float>& row : all) values.insert(values.end(), row.begin(), row.end());
  return lamina::tensor({all.size(), values.size() / all.size()}, values);
}
/// One id per sample.
inline lamina::lod_tensor ids(const std::vector<std::int64_t>& values) {
  return lamina::tensor({values.size(), 1}, values);
}
/// An image of one sample with the values 0, 1, 2, ... in [channels, height, width].
inline lamina::lod_tensor image(std::size_t channels, std::size_t height, std::size_t width) {
  std::vector<float> values(channels * height * width);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return lamina::tensor({1, channels, height, width}, values);
}

template <class T>
std::string text_of(T value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", static_cast<double>(value));
  return text;
}
/// The elements of a tensor in brackets, as numpy writes them.
template <class T>
std::string text_of(const lamina::tensor_shape& shape, const xt::xarray<T>& values,
                    std::size_t level, std::size_t& at) {
  if (level == shape.size()) return text_of(values.flat(at++));
  std::string text = "[";
  for (std::size_t i = 0; i < shape[level]; ++i)
    text += (i == 0 ? "" : ", ") + text_of(shape, values, level + 1, at);
  return text + "]";
}

/// Records a program, runs it in double and prints each variable that it returns; of sequences,
/// their lengths too.
template <class Record>
void show(Record, const lamina::feed_map& feed = {}) {
  constexpr auto net = lamina::program(Record{});
  lamina::basic_executor<double> executor;
  lamina::scope variables;
  executor.run_startup(net.view(), variables, 1);
  for (const lamina::lod_tensor& value : executor.run(net.view(), variables, feed)) {
    value.visit([&](const auto& values) {
      std::size_t at = 0;
      std::printf("%s", text_of(value.shape(), values, 0, at).c_str());
    });
    for (const std::vector<std::size_t>& level : value.recursive_sequence_lengths()) {
      std::printf(", sequences of");
      for (const std::size_t length : level) std::printf(" %zu", length);
    }
    std::printf("\n");
  }
  std::printf("@\n");  // the end of an example
}
