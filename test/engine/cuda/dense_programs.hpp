// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/dense_programs.hpp - programs with every operator that the device has, trained
// at a place and on the CPU side by side. For tests on the host and for a run on a device.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/optimizer/momentum.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/train/device_trainer.hpp>

namespace test {

namespace layer = lamina::layer;
using lamina::activation;

/// 13 numbers, fewer than a padded row; a label of 5; 5 numbers.
inline constexpr auto classes = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 13>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  layer::data<"y", float, 5>(main);
  auto h = layer::dropout(layer::fc<20>(x, {.act = activation::relu}), 0.25f);
  auto g = layer::fc<33>(h, {.act = activation::tanh});
  auto logits = layer::fc<5>(g, {.name = "logits"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

/// Pointwise functions, costs of probabilities, a product with more than one tile of columns.
inline constexpr auto functions = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 13>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto y = layer::data<"y", float, 5>(main);
  auto a = layer::fc<70>(x, {.act = activation::sigmoid});
  auto b = layer::gelu(layer::swish(layer::softplus(layer::fc<70>(x, {.bias = false}))));
  auto c = layer::elementwise_max(layer::elu(layer::scale(a - b, 2.0f)), layer::leaky_relu(b));
  auto d = layer::sin(layer::square(c)) * layer::softsign(a) + layer::exp(layer::scale(b, -1.0f));
  auto p = layer::softmax(layer::fc<5>(d));
  auto logits = layer::fc<5>(layer::log(layer::sqrt(layer::square(d) + a)));
  auto hard = layer::mean(layer::cross_entropy(p, label, {.ignore_index = 3}));
  auto soft = layer::mean(layer::softmax_with_cross_entropy(logits, layer::softmax(y)));
  return hard + soft + layer::mean(layer::square_error_cost(logits, y));
});

struct dense_samples {
  std::vector<float> x, y;
  std::vector<std::int64_t> label;
  explicit dense_samples(int n) {
    std::mt19937 random(5);
    std::uniform_real_distribution<float> number(-1, 1);
    for (int i = 0; i < n * 13; ++i) x.push_back(number(random));
    for (int i = 0; i < n * 5; ++i) y.push_back(number(random));
    for (int i = 0; i < n; ++i) label.push_back(static_cast<std::int64_t>(random() % 5));
  }
  template <class P>
  lamina::batch_view<P> batch(int first, int n) const {
    const void* const data[] = {x.data() + first * 13, label.data() + first, y.data() + first * 5};
    return lamina::batch_view<P>::dense(n, data);
  }
};

/// Differences relative to the largest number, after some steps.
struct difference {
  double cost = 0, metric = 0, parameters = 0;
  double worst() const { return std::max({cost, metric, parameters}); }
};

/// Equal models, equal mini-batches, one trained on the CPU and one by the backend.
template <class P, class Opt, class Backend>
difference train_both(P program, const Opt& opt, Backend& backend, const std::vector<int>& sizes) {
  lamina::model on_cpu{program, 3}, at_place{program, 3};
  lamina::trainer<P, Opt> expected(opt, on_cpu, 1, 11);
  lamina::device_trainer<P, Opt, Backend> found(backend, opt, at_place, 11);
  int first = 0;
  for (const int n : sizes) first += n;
  const dense_samples s(first);
  const auto relative = [](double a, double b) {
    return std::isfinite(b) ? std::abs(a - b) / std::max(1e-3, std::abs(a)) : 1.0;
  };
  difference d;
  first = 0;
  for (const int n : sizes) {
    const double wanted = expected.step(s.batch<P>(first, n));
    d.cost = std::max(d.cost, relative(wanted, found.step(s.batch<P>(first, n))));
    for (int i = 0; i < lamina::program_metrics<P>::count; ++i)
      d.metric = std::max(d.metric, relative(expected.metric(i), found.metric(i)));
    first += n;
  }
  found.bring_back();
  for (int i = 0; i < P::desc.count.parameters; ++i) {
    const auto a = on_cpu.get(i), b = at_place.get(i);
    double apart = 0, largest = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
      const double u = a.data()[k], v = b.data()[k];
      apart = std::isfinite(v) ? std::max(apart, std::abs(u - v)) : 1;
      largest = std::max(largest, std::abs(u));
    }
    d.parameters = std::max(d.parameters, largest > 0 ? apart / largest : 1);
  }
  return d;
}

/// The message for a label that is out of range: it names row and range.
template <class Backend>
std::string message_of_wrong_label(Backend& backend) {
  using P = std::remove_const_t<decltype(classes)>;
  lamina::model model{classes, 3};
  lamina::device_trainer<P, lamina::optimizer::sgd, Backend> trainer(backend, {}, model);
  dense_samples s(9);
  s.label[7] = 42;
  s.label[4] = 5;
  try {
    trainer.step(s.batch<P>(0, 9));
  } catch (const lamina::error& e) {
    return e.what();
  }
  return "";
}
inline constexpr const char* wrong_label_message =
    "lamina: softmax_with_cross_entropy: label in row 4: expected 0 to 4, found 5";

}  // namespace test
