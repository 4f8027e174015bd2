// SPDX-License-Identifier: Apache-2.0
// Values that a program states itself: parameters without a layer, constants, weights of classes.
#include "model/samples.hpp"

#include <lamina/model/gradient_machine.hpp>

namespace layer = lamina::layer;
using Catch::Contains;

namespace {

constexpr float ramp[] = {1, 2, 3, 4, 5, 6};
constexpr std::array<float, 3> per_class{2.f, 0.5f, 4.f};
constexpr std::array<std::int64_t, 2> whole{-7, 1 << 30};

constexpr auto constants = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  layer::elementwise_add(x, layer::assign_value(main, ramp), {.name = "sum"});
  layer::assign_value<2, 3>(main, ramp, {.name = "matrix"});
  layer::assign_value<2, 1>(main, whole, {.name = "whole"});
  auto scale = layer::create_parameter<float, 6>(
      main, {.name = "scale", .initializer = lamina::init::constant(3)});
  layer::create_parameter<float, 2, 3>(main);
  return layer::mean(layer::elementwise_mul(x, scale));
});

// One matrix encodes and, transposed, decodes.
constexpr auto tied = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto w = layer::create_parameter<float, 6, 2>(main, {.name = "w"});
  auto h = layer::tanh(layer::matmul(x, w));
  return layer::mean(
      layer::square_error_cost(layer::matmul<layer::matmul_form{.transpose_y = true}>(h, w), x));
});

constexpr auto weighted = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto logits = layer::fc<3>(x, {.name = "output"});
  auto cost = layer::softmax_with_cross_entropy(logits, label, {.name = "cost"});
  auto weight = layer::class_weights(label, per_class, {.name = "weight"});
  layer::mean(layer::elementwise_mul(cost, weight), {.name = "keras"});
  return layer::weighted_mean(cost, weight);
});

struct only_x {
  std::array<float, 6> x;
};

}  // namespace

TEST_CASE("constants have the stated elements") {
  const lamina::model m{constants};
  CHECK(m.parameter_arrays() == 2);  // constants are not saved
  CHECK(m.describe(0).name == "scale");
  CHECK(m.describe(1).name == "create_parameter_1.w_0");
  CHECK(m.parameter<"scale">() == lamina::array<float>{3.f, 3.f, 3.f, 3.f, 3.f, 3.f});
  lamina::evaluator e{m};
  e.forward(lamina::feed<"x">({1.f, 1.f, 1.f, 1.f, 1.f, 1.f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f}));
  const auto sum = e.activation<"sum">();
  const auto matrix = e.activation<"matrix">();
  const auto numbers = e.activation<"whole">();
  for (std::size_t j = 0; j < 6; ++j) {
    CHECK(sum(0, j) == ramp[j] + 1);
    CHECK(sum(1, j) == ramp[j]);
    CHECK(matrix(j / 3, j % 3) == ramp[j]);
  }
  CHECK(numbers(0, 0) == -7);
  CHECK(numbers(1, 0) == 1 << 30);
  CHECK(e.cost() == Approx(1.5));
}

TEST_CASE("the gradient of a parameter of its own is that of both its uses") {
  lamina::model m{tied, 3};
  lamina::gradient_machine g{m};
  std::vector<only_x> batch;
  for (const auto& s : test::samples(5)) batch.push_back({s.x});
  g.backward(batch);
  const lamina::array<float> gradient = g.gradient<"w">(), w = m.parameter<"w">();
  for (std::size_t i = 0; i < w.size(); ++i) {
    constexpr float step = 1e-2f;
    lamina::array<float> moved = w;
    moved.flat(i) += step;
    m.set_parameter<"w">(moved);
    const float above = g.backward(batch);
    moved.flat(i) -= 2 * step;
    m.set_parameter<"w">(moved);
    CHECK(gradient.flat(i) == Approx((above - g.backward(batch)) / (2 * step)).margin(1e-3));
  }
}

TEST_CASE("weights of classes weight costs, and ignored rows count nothing") {
  const lamina::model m{weighted, 3};
  lamina::evaluator e{m};
  std::vector<float> x;
  for (const auto& s : test::samples(4)) x.insert(x.end(), s.x.begin(), s.x.end());
  const std::vector<std::int64_t> label{2, 0, -100, 1};
  e.forward(lamina::feed<"x">(x), lamina::feed<"label">(label));
  const auto weight = e.activation<"weight">();
  const auto cost = e.activation<"cost">();
  CHECK(weight(0, 0) == 4);
  CHECK(weight(1, 0) == 2);
  CHECK(weight(2, 0) == 0);
  CHECK(weight(3, 0) == 0.5f);
  CHECK(cost(2, 0) == 0);
  const float sum = 4 * cost(0, 0) + 2 * cost(1, 0) + 0.5f * cost(3, 0);
  CHECK(e.cost() == Approx(sum / 6.5f));
  CHECK(e.activation<"keras">()(0) == Approx(sum / 4));
  CHECK_THAT(test::error_of([&] {
               e.forward(lamina::feed<"x">(x),
                         lamina::feed<"label">(std::vector<std::int64_t>{2, 0, 3, 1}));
             }),
             Contains("found 3"));
}

TEST_CASE("a weighted mean trains on any number of parts as on the whole") {
  // Quotients of sums are summed over parts by numerator and denominator
  // (train/gradients/cost_rows.hpp).
  lamina::model m{weighted, 3};
  lamina::gradient_machine g{m};
  const auto batch = test::samples(9);
  g.backward(batch);
  const lamina::array<float> whole = g.gradient<"output.w_0">();
  // The same by hand: a row's gradient times its weight, over the sum of the weights.
  lamina::array<float> sum(whole.shape());
  float total = 0;
  for (const auto& s : batch) {
    const float weight = per_class[static_cast<std::size_t>(s.label)];
    g.backward(std::span(&s, 1));
    sum += weight * g.gradient<"output.w_0">();
    total += weight;
  }
  for (std::size_t i = 0; i < whole.size(); ++i)
    CHECK(whole.flat(i) == Approx(sum.flat(i) / total).margin(1e-6));
}
