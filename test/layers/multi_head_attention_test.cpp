// SPDX-License-Identifier: Apache-2.0
// multi_head_attention: the projection of the attention that it wraps.
#include <cstddef>
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

}  // namespace

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
