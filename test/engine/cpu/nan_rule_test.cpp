// SPDX-License-Identifier: Apache-2.0
// NaN is chosen before every number, of equal ones the first has the gradient, remainders are
// exact, and whole numbers do not trap.
// Source: ml-explore/mlx#4274, tensorflow/tensorflow#125965, pytorch/pytorch#25016 (NaN);
// pytorch/pytorch#190042, pytorch/pytorch#124644 (the smallest number by -1);
// pytorch/pytorch#37743, tenstorrent/tt-metal#54048 (remainders).
#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

namespace {

constexpr float none = std::numeric_limits<float>::quiet_NaN();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

constexpr int width = 16;
constexpr auto extremes = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, width>(main);
  auto y = layer::data<"y", float, width>(main);
  layer::elementwise_max(x, y, {.name = "larger"});
  layer::elementwise_min(x, y, {.name = "smaller"});
  layer::reduce_max<1>(x, {.name = "max"});
  layer::reduce_min<1>(x, {.name = "min"});
  layer::reduce_max<0>(x, {.name = "max_of_rows"});
  layer::argmax<1>(x, {.name = "argmax"});
  layer::argmin<1>(x, {.name = "argmin"});
  layer::clip(x, -1, 1, {.name = "clip"});
  layer::relu(x, {.name = "relu"});
  layer::relu6(x, {.name = "relu6"});
  layer::elu(x, {.name = "elu"});
  layer::selu(x, {.name = "selu"});
  layer::hard_shrink(x, {.name = "hard_shrink"});
  layer::softshrink(x, {.name = "softshrink"});
  layer::thresholded_relu(x, {.name = "thresholded_relu"});
  layer::sign(x, {.name = "sign"});
  auto image = layer::reshape<1, 4, 4>(x);
  layer::pool2d<2, lamina::window{.stride = 2}>(image, {.name = "pool"});
  layer::pool2d<3, lamina::window{.stride = 1, .padding = 1}>(image, {.name = "padded_pool"});
  layer::maxout<4>(layer::reshape<4, 2, 2>(x), {.name = "maxout"});
  return layer::accuracy(x, layer::data<"label", std::int64_t>(main), {.name = "accuracy"});
});

constexpr auto remainders = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, width>(main);
  auto y = layer::data<"y", float, width>(main);
  return layer::elementwise_mod(x, y, {.name = "r"});
});
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
constexpr auto whole = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", std::int64_t>(main);
  auto y = layer::data<"y", std::int64_t>(main);
  layer::elementwise_mod(x, y, {.name = "r"});
  layer::elementwise_div(x, y, {.name = "d"});
  return layer::elementwise_floordiv(x, y, {.name = "q"});
});

constexpr auto ties = lamina::program([](lamina::block& main) {
  auto x = layer::fc<4>(
      layer::data<"x", float, 1>(main),
      {.param = {.initializer = lamina::init::constant(0)}, .bias_param = {.name = "b"}});
  return layer::mean(layer::reduce_max<1>(x));
});
struct one {
  float x;
};

}  // namespace

TEST_CASE("NaN is chosen before every number") {
  lamina::model model{extremes};
  lamina::evaluator e{model};
  for (const float rest : {-3.f, 0.f, 3.f, std::numeric_limits<float>::infinity(), none})
    for (const int place : {0, 5, width - 1}) {
      INFO(rest << " at " << place);
      std::vector<float> x(width, rest), y(width, rest);
      x[static_cast<std::size_t>(place)] = none;
      const auto forward = [&](const auto& left, const auto& right) {
        e.forward(lamina::feed<"x">(left), lamina::feed<"y">(right),
                  lamina::feed<"label">(std::vector<std::int64_t>{place}));
      };
      forward(y, x);
      CHECK(std::isnan(e.activation<"larger">()(0, place)));
      CHECK(std::isnan(e.activation<"smaller">()(0, place)));
      forward(x, y);
      CHECK(std::isnan(e.activation<"larger">()(0, place)));
      CHECK(std::isnan(e.activation<"smaller">()(0, place)));
      CHECK(std::isnan(e.activation<"max">().data()[0]));
      CHECK(std::isnan(e.activation<"min">().data()[0]));
      CHECK(std::isnan(e.activation<"max_of_rows">().data()[place]));
      const int first = std::isnan(rest) ? 0 : place;
      CHECK(e.activation<"argmax">().data()[0] == first);
      CHECK(e.activation<"argmin">().data()[0] == first);
      CHECK(std::isnan(e.activation<"clip">()(0, place)));
      CHECK(std::isnan(e.activation<"relu">()(0, place)));
      CHECK(std::isnan(e.activation<"relu6">()(0, place)));
      CHECK(std::isnan(e.activation<"elu">()(0, place)));
      CHECK(std::isnan(e.activation<"selu">()(0, place)));
      CHECK(std::isnan(e.activation<"hard_shrink">()(0, place)));
      CHECK(std::isnan(e.activation<"softshrink">()(0, place)));
      CHECK(std::isnan(e.activation<"thresholded_relu">()(0, place)));
      CHECK(std::isnan(e.activation<"sign">()(0, place)));
      CHECK(std::isnan(e.activation<"pool">().data()[place / 8 * 2 + place % 4 / 2]));
      CHECK(std::isnan(e.activation<"padded_pool">().data()[place]));
      CHECK(std::isnan(e.activation<"maxout">().data()[place % 4]));
      CHECK(e.activation<"accuracy">().data()[0] == 0);
    }
}

TEST_CASE("an accuracy counts numbers beside NaN as far as they are the largest") {
  lamina::model model{extremes};
  lamina::evaluator e{model};
  std::vector<float> x(2 * width, 1);
  x[3] = 2, x[width + 3] = 2, x[width + 5] = none;
  e.forward(lamina::feed<"x">(x), lamina::feed<"y">(x),
            lamina::feed<"label">(std::vector<std::int64_t>{3, 3}));
  CHECK(e.activation<"accuracy">().data()[0] == 0.5f);
}

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
  CHECK_THROWS_WITH(forward(1, 0), Catch::Contains("elementwise_mod: expected divisors"));
}

TEST_CASE("the first of equal ones has the gradient of a maximum") {
  lamina::model model{ties};
  lamina::gradient_machine machine{model};
  machine.backward(std::vector<one>{{1}});
  const auto b = machine.gradient<"b">();
  CHECK(b.data()[0] == 1);
  for (int i = 1; i < 4; ++i) CHECK(b.data()[i] == 0);
}
// A limit beyond the range of the type is the end of that range.
// Source: triton-lang/triton#10658, pytorch/pytorch#162273, tenstorrent/tt-metal#51498
TEST_CASE("numbers that no whole number holds become the nearest one, NaN becomes 0") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x{none,   infinity,     -infinity, 1e30f,       -1e30f, 3e9f,
                             -3e9f,  2147483648.f, 300,       -300,        -1,     -128.75f,
                             255.9f, 0.9f,         -0.9f,     9.223372e18f};
  lamina::model m{conversions};
  lamina::evaluator e{m};
  e.forward(lamina::feed<"x">(x), lamina::feed<"ids">(std::vector<std::int64_t>{least + 5}));
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
  CHECK(e.activation<"low">()(0, 0) == 5);
  CHECK(e.activation<"clip">()(0, 0) == 0);
  e.forward(lamina::feed<"x">(x), lamina::feed<"ids">(std::vector<std::int64_t>{7}));
  CHECK(e.activation<"clip">()(0, 0) == 7);
}
