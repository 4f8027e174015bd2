// SPDX-License-Identifier: Apache-2.0
// The layers of v2 record the operators of lamina's layers; data layers have the type that is
// named.
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/v2.hpp>

namespace paddle = lamina::v2;
namespace layer = paddle::layer;
namespace data_type = paddle::data_type;

namespace {

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
