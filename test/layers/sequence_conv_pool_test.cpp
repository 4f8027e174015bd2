// SPDX-License-Identifier: Apache-2.0
// sequence_conv_pool is a convolution and a pool.

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>
#include <laws/sequence_law.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/layers/sequence_conv_pool.hpp>

namespace layer = lamina::layer;
using lamina::activation;
using lamina::block;
using lamina::lod_tensor;
using lamina::tensor;

namespace {

constexpr auto classifier = lamina::program([](block& main) {
  auto x = layer::sequence<"x", float, 2>(main);
  auto found = layer::sequence_conv_pool<3, 3>(x, {.pad_value = -1, .name = "conv"});
  static_assert(__is_same(decltype(found), lamina::variable<float, lamina::batch, 3>));
  auto same =
      layer::sequence_pool(layer::sequence_conv<3, 3>(x, {.act = activation::sigmoid,
                                                          .param = {.name = "conv.w_0"},
                                                          .bias_param = {.name = "conv.b_0"}}),
                           {.type = lamina::pooling_type::max, .pad_value = -1});
  return std::tuple{found, same};
});

struct parameter {
  const char* name;
  tensor value;
};

template <class P>
std::vector<double> run(P, const lod_tensor& x, const std::vector<parameter>& parameters) {
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(P::view(), scope, 1);
  for (const parameter& p : parameters) {
    REQUIRE(scope.var(p.name).shape() == p.value.shape());
    scope.var(p.name) = p.value;
  }
  const auto a = executor.run(P::view(), scope, {{"x", x}})[0].template cast<double>();
  return {a.begin(), a.end()};
}

using pair = std::array<float, 2>;

lod_tensor some_pairs() {
  return lamina::sequences<pair>(
      {{{1, -2}, {0.5f, 4}}, {}, {{2, 2}}, {{0, 1}, {7, 0}, {-1, 5}, {3, 3}, {-2, 1}}});
}

}  // namespace

TEST_CASE("sequence_conv_pool is the pool of a convolution") {
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(classifier.view(), scope, 3);
  const auto r = executor.run(classifier.view(), scope, {{"x", some_pairs()}});
  REQUIRE(r[0].shape() == lamina::tensor_shape{4, 3});
  const auto found = r[0].cast<double>(), same = r[1].cast<double>();
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found.flat(i) == same.flat(i));
  for (std::size_t c = 0; c < 3; ++c) CHECK(found.flat(3 + c) == -1);
}
