// SPDX-License-Identifier: Apache-2.0
// data_once: an input without a batch dimension has one array for the whole mini-batch.
#include <array>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/feeding/feeder.hpp>
#include <lamina/model/model.hpp>

namespace layer = lamina::layer;
using Catch::Contains;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto table = layer::data_once<"table", float, 3, 2>(main);
  auto order = layer::data_once<"order", std::int64_t, 2>(main);
  auto x = layer::data<"x", float, 2>(main);
  auto chosen = layer::gather(table, order, {.name = "chosen"});
  return std::tuple{chosen, layer::matmul(x, chosen, {.name = "y"})};
});
using program = std::remove_cvref_t<decltype(net)>;

}  // namespace

TEST_CASE("data_once: the whole array is fed, beside any number of rows of other inputs") {
  const lamina::model model{net};
  lamina::evaluator e{model};
  const std::vector<float> table{1, 2, 3, 4, 5, 6}, x{1, 0, 0, 1, 1, 1};
  const std::vector<std::int64_t> order{2, 0};
  e.forward(lamina::feed<"table">(table), lamina::feed<"order">(order), lamina::feed<"x">(x));
  auto chosen = e.activation<"chosen">();
  REQUIRE(chosen.shape(0) == 2);
  CHECK((chosen(0, 0) == 5 && chosen(0, 1) == 6 && chosen(1, 0) == 1 && chosen(1, 1) == 2));
  auto y = e.activation<"y">();
  REQUIRE(y.shape(0) == 3);
  CHECK((y(0, 0) == 5 && y(1, 1) == 2 && y(2, 0) == 6 && y(2, 1) == 8));
  e.forward(lamina::feed<"table">(table), lamina::feed<"order">(order));  // without rows
  CHECK(e.activation<"chosen">()(0, 1) == 6);
  const std::vector<float> two(12);
  CHECK_THROWS_WITH(e.forward(lamina::feed<"table">(two)),
                    Contains("feed table: expected 6 values, found 12"));
}

TEST_CASE("data_once: a mini-batch of samples has one sample") {
  lamina::feeder<program> feeder;
  using sample =
      std::tuple<std::array<float, 6>, std::array<std::int64_t, 2>, std::array<float, 2>>;
  feeder.fill(std::vector<sample>(1));
  CHECK(feeder.rows() == 1);
  CHECK_THROWS_WITH(feeder.fill(std::vector<sample>(2)),
                    Contains("data layer table: expected one sample"));
}
