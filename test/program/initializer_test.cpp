// SPDX-License-Identifier: Apache-2.0
// Initial values of parameters follow the initialiser and the seed.

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/program/initializer.hpp>
#include <lamina/transform/append_backward.hpp>

namespace layer = lamina::layer;
using lamina::block;

namespace {

constexpr auto classifier = lamina::program([](block& main) {
  auto image = layer::data<"image", float, 4>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto logits = layer::fc<3>(image, {.act = lamina::activation::relu, .name = "out"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

struct session {
  lamina::executor executor;
  lamina::scope scope;
  session() { executor.run_startup(classifier.view(), scope, 7); }
  float cost(const lamina::feed_map& feed, const lamina::run_options& options = {}) {
    return executor.run(classifier.view(), scope, feed, options).at(0).as<float>().flat(0);
  }
};

}  // namespace

TEST_CASE(
    "startup fills parameters by their initialisers and the same seed gives the same values") {
  session a, b;
  const auto& w = a.scope.get("out.w_0").as<float>();
  REQUIRE(lamina::kernel::shape_of(w) == lamina::tensor_shape{4, 3});
  const float limit = std::sqrt(6.0f / 7);
  bool differs = false;
  for (std::size_t i = 0; i < w.size(); ++i) {
    CHECK(std::abs(w.flat(i)) <= limit);
    CHECK(w.flat(i) == b.scope.get("out.w_0").as<float>().flat(i));
    differs = differs || w.flat(i) != w.flat(0);
  }
  CHECK(differs);
  CHECK(w.flat(5) == lamina::random_uniform_at(7, 0, 5, -limit, limit));
  lamina::scope other;
  a.executor.run_startup(classifier.view(), other, 8);
  CHECK(other.get("out.w_0").as<float>().flat(0) != w.flat(0));
  for (const float x : a.scope.get("out.b_0").as<float>()) CHECK(x == 0);
}
