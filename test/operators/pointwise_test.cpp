// SPDX-License-Identifier: Apache-2.0
// Pointwise operators with other attributes, and those of a user: gradients are derivatives.

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/operators/pointwise.hpp>
#include <lamina/operators/pointwise_evaluation.hpp>

namespace layer = lamina::layer;
using lamina::block;

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
