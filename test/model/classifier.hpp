// SPDX-License-Identifier: Apache-2.0
// test/model/classifier.hpp - a small classifier, and what it computes in double.
#pragma once

#include "model/samples.hpp"

#include <lamina/model/evaluator.hpp>

namespace classifier {

namespace layer = lamina::layer;

inline constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto hidden = layer::fc<17>(x, {.act = lamina::activation::relu, .name = "hidden"});
  auto logits = layer::fc<3>(hidden, {.name = "output"});
  layer::softmax(logits, {.name = "probability"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

// x w + b with ordinary loops.
inline std::vector<double> affine(const std::vector<double>& x, const lamina::array<float>& w,
                                  const lamina::array<float>& b) {
  std::vector<double> y(b.size());
  for (std::size_t j = 0; j < y.size(); ++j) {
    y[j] = static_cast<double>(b(j));
    for (std::size_t i = 0; i < x.size(); ++i) y[j] += x[i] * static_cast<double>(w(i, j));
  }
  return y;
}

struct expected_values {
  std::vector<double> hidden, output, probability;
};

template <class M>
expected_values expected_of(const M& m, const test::sample& s) {
  expected_values v;
  v.hidden = affine({s.x.begin(), s.x.end()}, m.template parameter<"hidden.w_0">(),
                    m.template parameter<"hidden.b_0">());
  for (double& h : v.hidden) h = std::max(h, 0.0);
  v.output =
      affine(v.hidden, m.template parameter<"output.w_0">(), m.template parameter<"output.b_0">());
  double sum = 0;
  for (const double o : v.output) sum += std::exp(o);
  for (const double o : v.output) v.probability.push_back(std::exp(o) / sum);
  return v;
}

inline std::vector<std::array<float, 6>> images(const std::vector<test::sample>& samples) {
  std::vector<std::array<float, 6>> all;
  for (const auto& s : samples) all.push_back(s.x);
  return all;
}

inline std::vector<std::int64_t> labels(const std::vector<test::sample>& samples) {
  std::vector<std::int64_t> all;
  for (const auto& s : samples) all.push_back(s.label);
  return all;
}

}  // namespace classifier
