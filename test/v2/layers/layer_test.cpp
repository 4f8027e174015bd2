// SPDX-License-Identifier: Apache-2.0
// The layers of v2 record the operators of lamina's layers; data layers have the type that is
// named.
#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/v2.hpp>

namespace paddle = lamina::v2;
namespace layer = paddle::layer;
namespace data_type = paddle::data_type;
using lamina::batch;
using lamina::variable;

namespace {

constexpr auto inputs = lamina::program([](lamina::block& main) {
  auto dense = layer::data<"dense", data_type::dense_vector<3>>(main);
  auto value = layer::data<"value", data_type::integer_value<9>>(main);
  auto vectors = layer::data<"vectors", data_type::dense_vector_sequence<2>>(main);
  auto words = layer::data<"words", data_type::integer_value_sequence<9>>(main);
  auto text = layer::data<"text", data_type::integer_value_sub_sequence<9>>(main);
  auto nested = layer::data<"nested", data_type::dense_vector_sub_sequence<4>>(main);
  static_assert(std::is_same_v<decltype(dense), variable<float, batch, 3>>);
  static_assert(std::is_same_v<decltype(value), variable<std::int64_t, batch, 1>>);
  static_assert(std::is_same_v<decltype(vectors), variable<float, lamina::tokens<"vectors">, 2>>);
  static_assert(
      std::is_same_v<decltype(words), variable<std::int64_t, lamina::tokens<"words">, 1>>);
  static_assert(
      std::is_same_v<decltype(text), variable<std::int64_t, lamina::nested_tokens<"text">, 1>>);
  static_assert(
      std::is_same_v<decltype(nested), variable<float, lamina::nested_tokens<"nested">, 4>>);
});

// What costs and max_id give, one number or one per row.
constexpr auto costs = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", data_type::dense_vector<3>>(main);
  auto y = layer::data<"y", data_type::dense_vector<3>>(main);
  auto label = layer::data<"label", data_type::integer_value<3>>(main);
  layer::mse(y, x, {.name = "mse"});
  layer::square_error_cost(x, y, {.name = "square"});
  layer::max_id(x, {.name = "id"});
  layer::classification_cost(x, label, {.name = "cross"});
  layer::cosine(x, y, {.name = "cosine"});
});

}  // namespace

TEST_CASE("costs of v2 are means over the rows, and metrics have v2's names") {
  CHECK(inputs.view().count.data == 6);
  lamina::model model{costs};
  lamina::evaluator e{model};
  const std::vector<std::array<float, 3>> x{{0.5f, 0.25f, 0.25f}, {0.125f, 0.25f, 0.625f}};
  const std::vector<std::array<float, 3>> y{{1.5f, 0.25f, 0.25f}, {0.125f, 2.25f, 1.625f}};
  e.forward(lamina::feed<"x">(x), lamina::feed<"y">(y),
            lamina::feed<"label">(std::vector<std::int64_t>{0, 1}));
  CHECK(e.activation<"mse">()(0) == Approx((1 + 4 + 1) / 6.));
  CHECK(e.activation<"square">()(0) == Approx((1 + 4 + 1) / 2.));
  CHECK(e.activation<"cross">()(0) == Approx((std::log(2.) + std::log(4.)) / 2));
  CHECK(e.activation<"classification_error_evaluator">()(0) == Approx(0.5));
  const auto id = e.activation<"id">();
  CHECK(std::vector<std::int64_t>(id.begin(), id.end()) == std::vector<std::int64_t>{0, 2});
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    xy += static_cast<double>(x[0][k] * y[0][k]);
    xx += static_cast<double>(x[0][k] * x[0][k]);
    yy += static_cast<double>(y[0][k] * y[0][k]);
  }
  CHECK(e.activation<"cosine">()(0, 0) == Approx(xy / std::sqrt(xx * yy)));
}
