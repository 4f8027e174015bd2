// SPDX-License-Identifier: Apache-2.0
// where, tril, triu, take_along: values by hand, elements that are not chosen, the engine.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/layers/where.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/gradient_machine.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;

namespace {

constexpr auto chosen = program([](block& main) {
  auto x = layer::data<"x", float, 3, 3>(main);
  auto y = layer::data<"y", float, 3>(main);
  auto index = layer::data<"index", std::int64_t, 2>(main);
  auto row = layer::reshape<1, 3>(y);
  auto a = layer::where(layer::less_than(x, row), x, row, {.name = "a"});
  auto low = layer::tril(x, {.name = "low"});
  auto high = layer::triu<1>(x, {.name = "high"});
  auto at = layer::take_along(y, index, {.name = "at"});
  return std::tuple{layer::mean(a * a) + layer::mean(low * high) + layer::mean(at * at), a, low,
                    high, at};
});

constexpr auto in_double = program([](block& main) {
  auto x = layer::data<"x", double, 2, 3>(main);
  auto low = layer::tril(x, {.name = "low"});
  auto high = layer::triu<-1>(x, {.name = "high"});
  return std::tuple{layer::mean(low * high * high), low, high};
});

}  // namespace

TEST_CASE("tril, triu in double") {
  const lamina::model m{in_double};
  lamina::evaluator e{m};
  e.forward(lamina::feed<"x">(std::vector<double>{0.1, 0.2, 0.3, 0.4, 0.5, 0.6}));
  const auto low = e.activation<"low">(), high = e.activation<"high">();
  CHECK(std::vector<double>(low.begin(), low.end()) == std::vector<double>{0.1, 0, 0, 0.4, 0.5, 0});
  CHECK(std::vector<double>(high.begin(), high.end()) ==
        std::vector<double>{0.1, 0.2, 0.3, 0.4, 0.5, 0.6});
}

TEST_CASE("where: values by hand; elements that are not chosen have no influence") {
  const lamina::model m{chosen};
  lamina::evaluator e{m};
  constexpr float bad = std::numeric_limits<float>::quiet_NaN(),
                  far = std::numeric_limits<float>::infinity();
  const std::vector<float> x{1, bad, 3, 4, 5, far, -far, 8, 9}, y{2, 4, 6};
  const std::vector<std::int64_t> index{2, 0};
  e.forward(lamina::feed<"x">(x), lamina::feed<"y">(y), lamina::feed<"index">(index));
  const auto a = e.activation<"a">();
  const auto low = e.activation<"low">();
  const auto high = e.activation<"high">();
  const auto at = e.activation<"at">();
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      CAPTURE(i, j);
      const float v = x[3 * i + j];
      CHECK(a(0, i, j) == (v < y[j] ? v : y[j]));
      CHECK(low(0, i, j) == (j <= i ? v : 0));
      if (i != 0 || j != 1) CHECK(high(0, i, j) == (j > i ? v : 0));
    }
  CHECK(std::isnan(high(0, 0, 1)));
  CHECK(at(0, 0) == 6);
  CHECK(at(0, 1) == 2);
}

TEST_CASE("where: the engine") { lamina::law::check_engine(chosen, {.limit = 3}); }
