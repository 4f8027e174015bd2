// SPDX-License-Identifier: Apache-2.0
// Gradients of pointwise operators, a user's own among them, and of their axis broadcast.
#include "shared_executor.hpp"
#include <laws/gradient_check.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;

TEST_CASE("gradient: activations") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 4>(main);
    auto h = layer::fc<5>(x, {.act = lamina::activation::tanh});
    h = layer::fc<5>(h, {.act = lamina::activation::sigmoid});
    return layer::mean(layer::fc<3>(h, {.act = lamina::activation::relu}));
  }));
}

TEST_CASE("gradient: elementary functions") {
  laws::gradient_options positive;
  positive.low = 0.2f;
  positive.high = 0.9f;
  laws::check_gradients(lamina::program([](block& main) {
                          auto x = layer::data<"x", float, 3>(main);
                          auto y = layer::exp(x) + layer::log(x) + layer::sqrt(x) +
                                   layer::square(x) + layer::reciprocal(x);
                          return layer::mean(layer::sin(y) * layer::cos(x) + layer::softplus(x));
                        }),
                        {}, positive);
}

TEST_CASE("gradient: + - * / of two variables, max, min and pow") {
  laws::gradient_options positive;
  positive.low = 0.2f;
  positive.high = 0.9f;
  laws::check_gradients(lamina::program([](block& main) {
                          auto x = layer::data<"x", float, 3>(main);
                          auto y = layer::data<"y", float, 3>(main);
                          auto a = x * y + x / y - y;
                          auto b = layer::elementwise_max(x, y) * layer::elementwise_min(x * x, y);
                          return layer::mean(a + b + layer::elementwise_pow(x, y));
                        }),
                        {}, positive);
}

TEST_CASE("gradient: a smaller operand receives the sum over its copies") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 4, 5>(main);
    auto y = layer::data<"y", float, 4>(main);
    auto z = layer::elementwise_mul<0>(x, y);
    return layer::mean(
        layer::square(layer::elementwise_add<1>(z, layer::reduce_sum<0>(layer::fc<4>(y)))));
  }));
}

TEST_CASE("gradient: a variable that is used twice receives the sum of both gradients") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 4>(main);
    auto a = layer::fc<4>(x, {.param = {.name = "shared"}});
    auto b = layer::fc<4>(a * x, {.param = {.name = "shared"}});
    return layer::mean(a * b + a);
  }));
}

namespace {
// What a user would write.
struct cube : lamina::pointwise {
  static constexpr const char* type = "cube";
  template <class T>
  LAMINA_FN static T f(T x) {
    return x * x * x;
  }
  template <class T>
  LAMINA_FN static T df(T x, T dy) {
    return T(3) * x * x * dy;
  }
};
struct wrong_cube : lamina::pointwise {
  static constexpr const char* type = "wrong_cube";
  template <class T>
  LAMINA_FN static T f(T x) {
    return x * x * x;
  }
  template <class T>
  LAMINA_FN static T df(T x, T dy) {
    return T(2) * x * x * dy;
  }
};
}  // namespace

TEST_CASE("gradient: a user's own pointwise operator needs no kernel") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 4>(main);
    return layer::mean(layer::detail::same_shape<cube>(layer::fc<3>(x), "cube", ""));
  }));
}

TEST_CASE("gradient: the law finds a wrong derivative", "[!shouldfail]") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 4>(main);
    return layer::mean(layer::detail::same_shape<wrong_cube>(layer::fc<3>(x), "wrong_cube", ""));
  }));
}
