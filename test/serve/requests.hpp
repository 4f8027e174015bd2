// SPDX-License-Identifier: Apache-2.0
// test/serve/requests.hpp - programs that are served, and requests to them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "model/samples.hpp"

#include <lamina/serve/model_request.hpp>

namespace test {

namespace layer = lamina::layer;
namespace serve = lamina::serve;

// `words` are checked while the program runs: a number of 9 or more is an error of its mini-batch.
inline constexpr auto scores = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto word = layer::data<"word", std::int64_t>(main);
  auto e = layer::embedding<9, 3>(word);
  auto sum = layer::fc<4>(layer::elementwise_add(x, e), {.name = "sum"});
  layer::argmax<-1>(sum, {.name = "best"});
  return layer::mean(sum, {.name = "cost"});
});
inline constexpr auto pooled = lamina::program([](lamina::block& main) {
  auto words = layer::sequence<"words", std::int64_t>(main);
  return layer::sequence_pool(layer::embedding<9, 4>(words),
                              {.type = lamina::pooling_type::sum, .name = "sum"});
});

template <class T>
serve::named_values values(const char* name, std::vector<std::int64_t> shape,
                           const std::vector<T>& from, std::vector<int> lengths = {}) {
  return {name, lamina::dtype_of<T>, std::move(shape),
          std::string(reinterpret_cast<const char*>(from.data()), from.size() * sizeof(T)),
          std::move(lengths)};
}
inline serve::model_request request(int number, std::int64_t rows, std::int64_t word = -1) {
  std::vector<float> x;
  std::vector<std::int64_t> words;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (int k = 0; k < 3; ++k) x.push_back(static_cast<float>(number % 97) + 0.25f * k + r);
    words.push_back(word >= 0 ? word : (number + r) % 9);
  }
  return {{values("word", {rows, 1}, words), values("x", {rows, 3}, x)}, {"sum"}};
}
template <class T>
std::vector<T> elements(const serve::named_values& v) {
  std::vector<T> made(v.bytes.size() / sizeof(T));
  std::memcpy(made.data(), v.bytes.data(), v.bytes.size());
  return made;
}

}  // namespace test
