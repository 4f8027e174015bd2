// SPDX-License-Identifier: Apache-2.0
// Norms of all elements and squared distances: values by hand, gradients, the engine.
#include <tuple>

#include "executor/run_program.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using executed::returned_by;
using executed::values_of;
using lamina::block;
using lamina::program;
using lamina::tensor;

namespace {

using values = std::vector<double>;

tensor of(lamina::tensor_shape shape, const std::vector<float>& v) { return tensor(shape, v); }

}  // namespace

TEST_CASE("norms and distances by hand") {
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2>(main);
    auto y = layer::data<"y", float, 2>(main);
    auto one = layer::fill_constant<float, 1, 2>(main, 1);
    return std::tuple{layer::l1_norm(x), layer::squared_l2_norm(x),
                      layer::squared_l2_distance(x, y), layer::squared_l2_distance(x, one)};
  });
  const auto r =
      returned_by(net, {{"x", of({2, 2}, {1, -2, 3, 0})}, {"y", of({2, 2}, {0, 2, 3, 4})}});
  CHECK(values_of(r[0]) == values{6});
  CHECK(values_of(r[1]) == values{14});
  CHECK(r[2].shape() == lamina::tensor_shape{2, 1});
  CHECK(values_of(r[2]) == values{17, 16});
  CHECK(values_of(r[3]) == values{9, 5});
}

TEST_CASE("gradients of multiplex, minus, norms and distances are difference quotients") {
  laws::check_gradients(lamina::program([](block& main) {
                          auto x = layer::data<"x", float, 2, 3>(main);
                          auto y = layer::data<"y", float, 2, 3>(main);
                          auto ids = layer::data<"ids", std::int64_t>(main);
                          auto z = layer::multiplex({x, layer::square(y), x * y}, ids);
                          return layer::mean(layer::minus(z, x) * z);
                        }),
                        {{"ids", tensor({3, 1}, std::vector<std::int64_t>{2, 1, 0})}});
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2, 3>(main);
    auto y = layer::data<"y", float, 2, 3>(main);
    auto one = layer::reshape<1, 2, 3>(layer::reduce_sum<0>(layer::square(y)));
    auto far = layer::squared_l2_distance(x, y) * layer::squared_l2_distance(y, one);
    return layer::mean(far) + layer::l1_norm(x) * layer::squared_l2_norm(y);
  }));
}

namespace {

constexpr auto distances = program([](block& main) {
  auto x = layer::data<"x", float, 3, 7>(main);
  auto y = layer::data<"y", float, 3, 7>(main);
  auto one = layer::reshape<1, 3, 7>(layer::reduce_sum<0>(y));
  auto a = layer::squared_l2_distance(x, y), b = layer::squared_l2_distance(x, one);
  auto l1 = layer::l1_norm(x), l2 = layer::squared_l2_norm(y);
  return std::tuple{layer::mean(a * b) + l1 * l2 * 0.001f, a, b, l1, l2};
});

}  // namespace

TEST_CASE("norms of all elements and squared distances on the engine") {
  lamina::law::check_engine(distances, {.rows_are_alone = false});
}
