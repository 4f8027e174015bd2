// SPDX-License-Identifier: Apache-2.0
// A program with metrics of all kinds, samples for it, and the values of the metrics.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include <lamina/lamina.hpp>

namespace scored {

namespace layer = lamina::layer;
using integer = std::int64_t;

// The probability of class 1 grows with x; no rate, so that training changes nothing.
inline constexpr auto scores = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float>(main);
  auto y = layer::data<"y", integer>(main);
  auto p = layer::softmax(layer::fc<2>(x, {.param = {.name = "w"}, .bias = false}));
  layer::auc(p, y, {.name = "auc"});
  auto one = layer::cast<float>(y);
  auto found = layer::relu(layer::sign(x));
  auto hits = layer::reduce_sum(found * one);
  layer::elementwise_div(hits, layer::reduce_sum(found), {.name = "precision"});
  layer::elementwise_div(layer::mean(found * one), layer::mean(one), {.name = "recall"});
  auto guarded =
      layer::elementwise_max(layer::reduce_sum(found), layer::fill_constant<float>(main, 1));
  layer::scale(layer::elementwise_div(hits, guarded), 100, {.name = "percent"});
  return layer::mean(layer::cross_entropy(p, y));
});

struct sample {
  float x;
  integer y;
};

/// Of the second kind no row of the first mini-batches has x above 0.
inline std::vector<sample> some_samples(int kind) {
  std::vector<sample> all;
  for (int i = 0; i < 41; ++i) {
    const float x = static_cast<float>((i * 17 + kind * 5) % 23) / 8 - 1;
    all.push_back({kind == 1 && i < 12 ? -1 - std::abs(x) : x, (i * i + i / 3 + kind) % 3 == 0});
  }
  return all;
}

inline std::map<std::string, double> values_of(const std::vector<sample>& all) {
  double hits = 0, found = 0, ones = 0, pairs = 0, above = 0;
  for (const sample& a : all) {
    found += a.x > 0, ones += a.y == 1, hits += a.x > 0 && a.y == 1;
    for (const sample& b : all)
      if (a.y == 1 && b.y == 0) pairs += 1, above += a.x > b.x ? 1 : a.x == b.x ? 0.5 : 0;
  }
  return {{"auc", above / pairs},
          {"precision", hits / found},
          {"recall", hits / ones},
          {"percent", 100 * hits / found}};
}

inline void set_weights(lamina::model<std::remove_const_t<decltype(scores)>>& m) {
  m.set_parameter<"w">(lamina::array<float>({1, 2}, {0, 1}));
}

}  // namespace scored
