// SPDX-License-Identifier: Apache-2.0
// multi_head_attention: the projection of the attention that it wraps.
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/numbers/random.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/layers/multi_head_attention.hpp>
#include <lamina/model/evaluator.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;

namespace {

constexpr auto attended = program([](block& main) {
  auto x = layer::data<"x", float, 5, 6>(main);
  auto y = layer::multi_head_attention<3>(x, {.causal = true, .name = "y"});
  auto result = layer::assign(y, {.name = "result"});
  auto inner = layer::scaled_dot_product_attention<3>(x, x, x, {.causal = true, .name = "y"});
  return std::tuple{layer::mean(y * y), result, layer::assign(inner, {.name = "inner"})};
});
static_assert(attended.parameter_count() == 7 * (6 * 6 + 6));

// All options reach the attention of the heads: both results agree, and each option changes them.
template <int Option>
constexpr auto masked = program([](block& main) {
  auto x = layer::data<"x", float, 5, 6>(main);
  auto lengths = layer::data<"lengths", std::int64_t>(main);
  int seen[25];
  float added[25];
  for (int i = 0; i < 25; ++i) seen[i] = i % 4 != 1, added[i] = 0.25f * float(i % 3);
  layer::scaled_dot_product_attention_attr options{.name = "y"};
  if (Option == 1) options.lengths = lengths;
  if (Option == 2) options.mask = layer::cast<bool>(layer::assign_value<5, 5>(main, seen));
  if (Option == 3) options.bias = layer::assign_value<5, 5>(main, added);
  auto y = layer::multi_head_attention<3>(x, options);
  auto result = layer::assign(y, {.name = "result"});
  auto inner = layer::scaled_dot_product_attention<3>(x, x, x, options);
  return std::tuple{layer::mean(y * y), result, layer::assign(inner, {.name = "inner"})};
});

template <class Model>
std::vector<float> check_projection(Model& m) {
  // The three weights and biases of the attention beside it are those of y.
  m.template set_parameter<"y.w_4">(m.template parameter<"y.w_0">());
  m.template set_parameter<"y.w_5">(m.template parameter<"y.w_1">());
  m.template set_parameter<"y.w_6">(m.template parameter<"y.w_2">());
  lamina::evaluator e{m};
  std::vector<float> x(30);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = lamina::uniform_at(1, 0, i) * 4 - 2;
  e.forward(lamina::feed<"x">(x), lamina::feed<"lengths">(std::vector<std::int64_t>{2}));
  const auto inner = e.template activation<"inner">();
  const auto y = e.template activation<"result">();
  const lamina::array<float> w = m.template parameter<"y.w_3">();
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 6; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < 6; ++k) sum += static_cast<double>(inner(0, i, k)) * w(k, j);
      CHECK(y(0, i, j) == Approx(sum).margin(1e-6));
    }
  return std::vector<float>(y.begin(), y.end());
}

}  // namespace

TEST_CASE("multi_head_attention passes lengths, mask and bias on") {
  lamina::model none{masked<0>, 7};
  lamina::model lengths{masked<1>, 7};
  lamina::model mask{masked<2>, 7};
  lamina::model bias{masked<3>, 7};
  const auto plain = check_projection(none);
  CHECK(check_projection(lengths) != plain);
  CHECK(check_projection(mask) != plain);
  CHECK(check_projection(bias) != plain);
}

TEST_CASE("multi_head_attention: fc of the heads") {
  lamina::model m{attended};
  // The three weights and biases of the attention beside it are those of y.
  m.set_parameter<"y.w_4">(m.parameter<"y.w_0">());
  m.set_parameter<"y.w_5">(m.parameter<"y.w_1">());
  m.set_parameter<"y.w_6">(m.parameter<"y.w_2">());
  lamina::evaluator e{m};
  std::vector<float> x(30);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = lamina::uniform_at(1, 0, i);
  e.forward(lamina::feed<"x">(x));
  const auto inner = e.activation<"inner">();
  const auto y = e.activation<"result">();
  const lamina::array<float> w = m.parameter<"y.w_3">();
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 6; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < 6; ++k) sum += static_cast<double>(inner(0, i, k)) * w(k, j);
      CHECK(y(0, i, j) == Approx(sum).margin(1e-6));
    }
}
