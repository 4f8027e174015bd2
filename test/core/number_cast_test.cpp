// SPDX-License-Identifier: Apache-2.0
// Conversions of numbers that the other type cannot hold, and sums of integers that wrap around.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "laws/edge_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/number_cast.hpp>
#include <lamina/core/wrapping.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/model.hpp>

namespace {

template <class To>
using limits = std::numeric_limits<To>;
constexpr auto most = limits<std::int64_t>::max();
constexpr auto least = limits<std::int64_t>::min();

constexpr auto casts = lamina::program([](lamina::block& main) {
  auto x = lamina::layer::data<"x", float, 8>(main);
  auto y = lamina::layer::cast<std::int64_t>(x);
  auto z = lamina::layer::cast<std::int32_t>(lamina::layer::cast<double>(x));
  return std::tuple{y, z, lamina::layer::cast<std::uint8_t>(x), lamina::layer::cast<bool>(x)};
});

constexpr auto sums = lamina::program([](lamina::block& main) {
  namespace layer = lamina::layer;
  auto x = layer::data<"x", std::int64_t, 5>(main);
  auto y = layer::data<"y", std::int64_t, 5>(main);
  layer::elementwise_add(x, y, {.name = "added"});
  layer::elementwise_sub(x, y, {.name = "less"});
  layer::elementwise_mul(x, y, {.name = "times"});
  return layer::scale(x, 3, {.name = "tripled"});
});

}  // namespace

TEMPLATE_TEST_CASE("numbers that an integer cannot hold become the nearest one", "", std::int64_t,
                   std::int32_t, std::int16_t, std::int8_t, std::uint8_t) {
  using T = TestType;
  for (const double x : {1e30, 1e300, double(limits<double>::infinity()), 0x1p63, 0x1p64})
    CHECK(lamina::number_cast<T>(x) == limits<T>::max());
  for (const double x : {-1e30, -1e300, -limits<double>::infinity(), -0x1.8p63})
    CHECK(lamina::number_cast<T>(x) == limits<T>::min());
  CHECK(lamina::number_cast<T>(-0x1p63f) == limits<T>::min());
  CHECK(lamina::number_cast<T>(0x1p63f) == limits<T>::max());
  CHECK(lamina::number_cast<T>(limits<float>::quiet_NaN()) == T(0));
  CHECK(lamina::number_cast<T>(2.9f) == T(2));
  CHECK(lamina::number_cast<T>(127.9) == T(127));
  CHECK(lamina::number_cast<bool>(limits<T>::min()) == (limits<T>::min() != 0));
  const double largest = static_cast<double>(limits<T>::max());
  if (sizeof(T) < 8) {
    CHECK(lamina::number_cast<T>(largest) == limits<T>::max());
    CHECK(lamina::number_cast<T>(largest + 0.9) == limits<T>::max());
    CHECK(lamina::number_cast<T>(largest - 1) == limits<T>::max() - 1);
  }
  CHECK(lamina::number_cast<bool>(limits<float>::quiet_NaN()));
}

TEST_CASE("numbers that an integer cannot hold: the engine casts as the executor does") {
  const double infinity = limits<double>::infinity();
  lamina::law::check_edges(
      casts,
      {{1e30, -1e30, infinity, -infinity, limits<double>::quiet_NaN(), -0.9, 254.5, 2147483648.0}},
      1);
}

TEST_CASE("integers that are too large wrap around") {
  CHECK(lamina::math::wrapping_sum(most, std::int64_t(1)) == least);
  CHECK(lamina::math::wrapping_difference(least, std::int64_t(1)) == most);
  CHECK(lamina::math::wrapping_product(least, std::int64_t(-1)) == least);
  CHECK(lamina::math::wrapping_sum<std::int16_t>(32767, 1) == -32768);
  CHECK(lamina::math::wrapping_product<std::uint8_t>(255, 255) == 1);
  CHECK(lamina::math::wrapping_product<std::uint16_t>(65535, 65535) == 1);
  CHECK(lamina::math::wrapping_sum(1.5f, 1.f) == 2.5f);
  lamina::model model{sums};
  lamina::evaluator e{model};
  const std::vector<std::int64_t> x{most, least, least, most, 5}, y{1, -1, -1, most, -7};
  e.forward(lamina::feed<"x">(x), lamina::feed<"y">(y));
  CHECK(e.activation<"added">().data()[0] == least);
  CHECK(e.activation<"added">().data()[1] == most);
  CHECK(e.activation<"added">().data()[3] == -2);
  CHECK(e.activation<"less">().data()[1] == least + 1);
  CHECK(e.activation<"times">().data()[2] == least);
  CHECK(e.activation<"times">().data()[3] == 1);
  CHECK(e.activation<"tripled">().data()[3] == most - 2);
}
