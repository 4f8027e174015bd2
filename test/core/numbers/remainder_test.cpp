// SPDX-License-Identifier: Apache-2.0
// Remainders of floats and whole numbers.
#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/numbers/remainder.hpp>
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

namespace {

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

constexpr int width = 16;

constexpr auto remainders = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, width>(main);
  auto y = layer::data<"y", float, width>(main);
  return layer::elementwise_mod(x, y, {.name = "r"});
});

constexpr auto whole = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", std::int64_t>(main);
  auto y = layer::data<"y", std::int64_t>(main);
  layer::elementwise_mod(x, y, {.name = "r"});
  layer::elementwise_div(x, y, {.name = "d"});
  return layer::elementwise_floordiv(x, y, {.name = "q"});
});

}  // namespace

TEST_CASE("the remainder of floats is exact and has the sign of the divisor") {
  lamina::model model{remainders};
  lamina::evaluator e{model};
  std::vector<float> x{7,    -7,   1e9f,  -1e9f,  1e20f, -1e20f, 3e-39f, 0,
                       -0.f, 5.5f, -5.5f, 1e-30f, 1e30f, 6,      -6,     1};
  std::vector<float> y{3, 3, 7, 7, 3, -3, 1e-39f, 2, 2, -2, -2, 1e-20f, 7e-20f, 3, 3, 0};
  e.forward(lamina::feed<"x">(x), lamina::feed<"y">(y));
  for (int i = 0; i < width; ++i) {
    const std::size_t k = static_cast<std::size_t>(i);
    float wanted = std::fmod(x[k], y[k]);
    if (wanted != 0 && (wanted < 0) != (y[k] < 0)) wanted += y[k];
    const float got = e.activation<"r">()(0, i);
    INFO(x[k] << " mod " << y[k]);
    CHECK((got == wanted || (std::isnan(got) && std::isnan(wanted))));
  }
}

TEST_CASE("the smallest whole number by -1 wraps, and a divisor of 0 names the operator") {
  lamina::model model{whole};
  lamina::evaluator e{model};
  const auto forward = [&](std::int64_t x, std::int64_t y) {
    e.forward(lamina::feed<"x">(std::vector<std::int64_t>{x}),
              lamina::feed<"y">(std::vector<std::int64_t>{y}));
  };
  forward(least, -1);
  CHECK(e.activation<"q">()(0, 0) == least);
  CHECK(e.activation<"d">()(0, 0) == least);
  CHECK(e.activation<"r">()(0, 0) == 0);
  forward(-7, 2);
  CHECK(e.activation<"q">()(0, 0) == -4);
  CHECK(e.activation<"d">()(0, 0) == -3);
  CHECK(e.activation<"r">()(0, 0) == 1);
  CHECK_THROWS_WITH(forward(1, 0), Catch::Contains("layer r: expected divisors"));
}
