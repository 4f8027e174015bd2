// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/dense_programs.hpp - programs of products of matrices and pointwise
// functions. For tests on the host and for a run on a device.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "engine/cuda/train_both.hpp"

namespace test {

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

/// Products of so many terms that they are split, forward and for the gradient of an input.
inline constexpr auto deep = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 13>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h = layer::fc<600>(x, {.act = activation::tanh});
  auto logits = layer::fc<5>(layer::fc<530>(h, {.act = activation::relu}));
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

/// Products that are large where a mini-batch has 256 rows.
inline constexpr auto wide = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 512>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto a = layer::fc<1024>(x, {.act = activation::relu});
  auto b = layer::fc<512>(layer::fc<1024>(a, {.act = activation::tanh}), {.bias = false});
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<5>(b), label));
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
    "lamina: layer softmax_with_cross_entropy_0, feed 'label': label in row 4: expected 0 to 4, "
    "found 5";

}  // namespace test
