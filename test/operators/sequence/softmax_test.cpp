// SPDX-License-Identifier: Apache-2.0
// sequence_softmax: values by hand, gradients, the engine.

#include "executor/run_program.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>
#include <laws/sequence_law.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using executed::values_of;
using lamina::block;
using lamina::lod;
using lamina::lod_tensor;

namespace {

constexpr auto weights = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float>(main);
  return layer::sequence_softmax(x);
});

template <class P>
std::vector<lod_tensor> returned_by(P, const lamina::feed_map& feed) {
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  executor.run_startup(P::view(), scope, 1);
  return executor.run(P::view(), scope, feed);
}

using values = std::vector<double>;

using lengths = std::vector<lod::level>;

}  // namespace

TEST_CASE("sequence_softmax by hand") {
  // e^0 : e^ln 3 = 1 : 3; equal ones share; large numbers do not overflow.
  const float ln3 = 1.0986123f;
  const auto y = returned_by(
      weights, {{"x", lamina::sequences<float>({{0, ln3}, {}, {5}, {1000, 1000, 1000, 1000}})}})[0];
  CHECK(y.recursive_sequence_lengths() == lengths{{2, 0, 1, 4}});
  const values expected{0.25, 0.75, 1, 0.25, 0.25, 0.25, 0.25};
  const values is = values_of(y);
  REQUIRE(is.size() == expected.size());
  for (std::size_t i = 0; i < is.size(); ++i) CHECK(is[i] == Approx(expected[i]).epsilon(1e-6));
}

TEST_CASE("sequence_softmax without any row") {
  CHECK(returned_by(weights, {{"x", lamina::sequences<float>({{}, {}})}})[0].shape() ==
        lamina::tensor_shape{0, 1});
  CHECK(returned_by(weights, {{"x", lamina::sequences<float>({})}})[0].shape() ==
        lamina::tensor_shape{0, 1});
}

TEST_CASE("gradient: sequence_softmax") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::sequence<"x", float, 3>(main);
    auto score = layer::sequence_softmax(layer::fc<1>(x));
    return layer::mean(layer::square(layer::elementwise_mul<0>(layer::tanh(x), score)));
  }));
}

namespace {

constexpr auto attention = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 19>(main);
  auto h = layer::fc<17>(x, {.act = lamina::activation::tanh});
  auto weight = layer::sequence_softmax(layer::fc<1>(h));
  auto sum = layer::sequence_pool(layer::elementwise_mul<0>(h, weight),
                                  {.type = lamina::pooling_type::sum});
  auto back = layer::sequence_expand_as(sum, x) * h;
  return std::tuple{layer::mean(layer::square(back)), back, weight, sum};
});

}  // namespace

TEST_CASE("sequence_softmax and sequence_expand_as") { lamina::law::check_engine(attention); }
