// SPDX-License-Identifier: Apache-2.0
// Numbers that an integer cannot hold, and integers that are too large.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "laws/edge_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/numbers/number_cast.hpp>
#include <lamina/core/numbers/wrapping.hpp>
#include <lamina/lamina.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/model.hpp>

namespace layer = lamina::layer;

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

namespace {

constexpr float none = std::numeric_limits<float>::quiet_NaN();

constexpr std::int64_t least_integer = std::numeric_limits<std::int64_t>::min();

constexpr int width = 16;

constexpr auto conversions = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, width>(main);
  auto ids = layer::data<"ids", std::int64_t>(main);
  layer::cast<std::int64_t>(x, {.name = "int64"});
  layer::cast<std::int32_t>(x, {.name = "int32"});
  layer::cast<std::int8_t>(x, {.name = "int8"});
  layer::cast<std::uint8_t>(x, {.name = "uint8"});
  layer::cast<bool>(x, {.name = "bool"});
  layer::cast<std::int32_t>(ids, {.name = "low"});
  return layer::clip(ids, 0, 1e30, {.name = "clip"});
});

}  // namespace

// A limit beyond the range of the type is the end of that range.
// Source: triton-lang/triton#10658, pytorch/pytorch#162273, tenstorrent/tt-metal#51498
TEST_CASE("numbers that no whole number holds become the nearest one, NaN becomes 0") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x{none,   infinity,     -infinity, 1e30f,       -1e30f, 3e9f,
                             -3e9f,  2147483648.f, 300,       -300,        -1,     -128.75f,
                             255.9f, 0.9f,         -0.9f,     9.223372e18f};
  lamina::model m{conversions};
  lamina::evaluator e{m};
  e.forward(lamina::feed<"x">(x),
            lamina::feed<"ids">(std::vector<std::int64_t>{least_integer + 5}));
  const auto check = [&]<class T>(const auto& found, T) {
    for (int i = 0; i < width; ++i) {
      const long double value = std::trunc(x[static_cast<std::size_t>(i)]);
      const long double most = std::numeric_limits<T>::max(), low = std::numeric_limits<T>::min();
      const T wanted = std::isnan(value) ? T(0)
                       : value >= most   ? std::numeric_limits<T>::max()
                       : value <= low    ? std::numeric_limits<T>::min()
                                         : static_cast<T>(value);
      INFO("element " << i);
      CHECK(found(0, i) == wanted);
    }
  };
  check(e.activation<"int64">(), std::int64_t{});
  check(e.activation<"int32">(), std::int32_t{});
  check(e.activation<"int8">(), std::int8_t{});
  check(e.activation<"uint8">(), std::uint8_t{});
  CHECK(e.activation<"bool">()(0, 0) == true);
  CHECK(e.activation<"low">()(0, 0) == std::numeric_limits<std::int32_t>::min());
  CHECK(e.activation<"clip">()(0, 0) == 0);
  e.forward(lamina::feed<"x">(x), lamina::feed<"ids">(std::vector<std::int64_t>{7}));
  CHECK(e.activation<"clip">()(0, 0) == 7);
}
