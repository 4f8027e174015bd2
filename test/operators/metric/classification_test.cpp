// SPDX-License-Identifier: Apache-2.0
// top_k, accuracy, auc and one_hot: values by hand, and the engine against the executor.
#include <tuple>

#include "executor/run_program.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/compared_operators.hpp>

#include <lamina/executor/matrix_product.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/transform/append_backward.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace layer = lamina::layer;
using executed::returned_by;
using executed::values_of;
using lamina::block;
using lamina::program;
using lamina::tensor;
using lamina::law::check_engine;
using lamina::law::engine_law_options;

namespace {

template <int W>
constexpr auto largest = program([](block& main) {
  auto x = layer::data<"x", float, W>(main);
  auto many = layer::data<"many", float, 3, W>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto [values, indices] = layer::topk<3>(x);
  auto [more, at] = layer::topk<W>(many);
  auto part = layer::accuracy<2>(x, label);
  auto hot = layer::one_hot<W>(label);
  auto cost = layer::mean(values * values) + layer::mean(more * more * more);
  return std::tuple{cost, values, indices, more, at, part, hot};
});

constexpr auto area = program([](block& main) {
  auto p = layer::data<"p", float, 2>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  return std::tuple{layer::mean(p), layer::auc(p, label, {.num_thresholds = 50})};
});

}  // namespace

TEST_CASE("top_k, accuracy and one_hot on the engine are those of the executor") {
  const engine_law_options o{.limit = 5};
  check_engine(largest<5>, o);
  check_engine(largest<33>, o);
}

TEST_CASE("auc on the engine counts as the executor does") { check_engine(area, {.low = 0}); }

namespace {

tensor reals(const lamina::tensor_shape& shape, const std::vector<float>& values) {
  return tensor(shape, values);
}

tensor whole(const lamina::tensor_shape& shape, const std::vector<std::int64_t>& values) {
  return tensor(shape, values);
}

}  // namespace

TEST_CASE("top_k puts the first of equal elements first, accuracy counts") {
  constexpr auto p = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 4>(main);
    auto label = layer::data<"label", std::int64_t>(main);
    auto [values, places] = layer::topk<3>(x);
    return std::tuple{values, places, layer::accuracy(x, label), layer::accuracy<2>(x, label)};
  });
  const auto r = returned_by(
      p, {{"x", reals({2, 4}, {1, 3, 3, 2, 0, -1, 4, 5})}, {"label", whole({2, 1}, {1, 2})}});
  CHECK(values_of(r[0]) == std::vector<double>{3, 3, 2, 5, 4, 0});
  CHECK(values_of(r[1]) == std::vector<double>{1, 2, 3, 3, 2, 0});
  CHECK(values_of(r[2]) == std::vector<double>{0.5});
  CHECK(values_of(r[3]) == std::vector<double>{1});
}

TEST_CASE("auc is the part of pairs in the right order and goes on over batches") {
  constexpr auto p = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 2>(main);
    return std::tuple{layer::auc(x, layer::data<"label", std::int64_t>(main))};
  });
  lamina::executor executor;
  lamina::scope scope;
  executor.run_startup(p.view(), scope);
  const auto area = [&](float a, float b, std::int64_t la, std::int64_t lb) {
    return values_of(
        executor
            .run(p.view(), scope,
                 {{"x", reals({2, 2}, {1 - a, a, 1 - b, b})}, {"label", whole({2, 1}, {la, lb})}})
            .at(0))[0];
  };
  CHECK(area(0.9f, 0.1f, 1, 0) == Approx(1));
  CHECK(area(0.3f, 0.6f, 1, 0) == Approx(0.75));
  CHECK(area(0.2f, 0.2f, 1, 0) == Approx(6.5 / 9));
}
