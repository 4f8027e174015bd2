// SPDX-License-Identifier: Apache-2.0
// Vectors are compared as numbers are: NaN has one rule.
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/vector_edges.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/core/numbers/math.hpp>
#include <lamina/engine/cpu/vector/simd.hpp>
#include <lamina/lamina.hpp>
#include <lamina/operators/elementwise/compare/definition.hpp>

namespace layer = lamina::layer;
using lamina::engine::cpu::vector;
using vector_edges::check_at_edges;
using vector_edges::edges;

// xtensor-stack/xsimd#805
TEMPLATE_TEST_CASE("NaN has one rule: vectors are compared as numbers are", "", float, double) {
  namespace math = lamina::math;
  using T = TestType;
  const auto is = [](auto holds) {
    if constexpr (std::is_same_v<decltype(holds), bool>)
      return holds ? T(1) : T(0);
    else
      return math::select(holds, lamina::engine::cpu::vector_in<T>(T(1)),
                          lamina::engine::cpu::vector_in<T>(T(0)));
  };
#define LAMINA_CHECK_COMPARED(name)                                                 \
  check_at_edges<T>(                                                                \
      #name, [&](auto x) { return is(name(x, decltype(x)(y))); },                   \
      [&](T x) { return is(name(x, y)); });                                         \
  check_at_edges<T>(                                                                \
      #name " from the right", [&](auto x) { return is(name(decltype(x)(y), x)); }, \
      [&](T x) { return is(name(y, x)); })
  for (const T y : edges<T>()) {
    INFO("beside " << y);
    LAMINA_CHECK_COMPARED(math::differs);
    LAMINA_CHECK_COMPARED(math::is_above);
    LAMINA_CHECK_COMPARED(math::is_below);
    LAMINA_CHECK_COMPARED(math::is_same);
    LAMINA_CHECK_COMPARED(lamina::operators::less_than::f);
    LAMINA_CHECK_COMPARED(lamina::operators::less_equal::f);
    LAMINA_CHECK_COMPARED(lamina::operators::greater_than::f);
    LAMINA_CHECK_COMPARED(lamina::operators::greater_equal::f);
    LAMINA_CHECK_COMPARED(lamina::operators::equal::f);
    LAMINA_CHECK_COMPARED(lamina::operators::not_equal::f);
    LAMINA_CHECK_COMPARED(lamina::operators::logical_and::f);
    LAMINA_CHECK_COMPARED(lamina::operators::logical_or::f);
    LAMINA_CHECK_COMPARED(lamina::operators::logical_xor::f);
  }
#undef LAMINA_CHECK_COMPARED
}

namespace {

constexpr float none = std::numeric_limits<float>::quiet_NaN();

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

TEST_CASE("the first of equal ones has the gradient of a maximum") {
  lamina::model model{ties};
  lamina::gradient_machine machine{model};
  machine.backward(std::vector<one>{{1}});
  const auto b = machine.gradient<"b">();
  CHECK(b.data()[0] == 1);
  for (int i = 1; i < 4; ++i) CHECK(b.data()[i] == 0);
}
