// SPDX-License-Identifier: Apache-2.0
// Evaluators of v2 are metrics of a test, under v2's names.
#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/v2.hpp>

namespace paddle = lamina::v2;
namespace layer = paddle::layer;

namespace {

// The inputs are what a net would return.
constexpr auto cost = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", paddle::data_type::dense_vector<2>>(main);
  auto y = layer::data<"y", paddle::data_type::dense_vector<3>>(main);
  auto one = layer::data<"one", paddle::data_type::integer_value<2>>(main);
  auto other = layer::data<"other", paddle::data_type::integer_value<3>>(main);
  paddle::evaluator::auc(x, one);
  paddle::evaluator::classification_error(y, other);
  paddle::evaluator::classification_error<2>(y, other, {.name = "second"});
  paddle::evaluator::sum(x, {.name = "total"});
  return layer::mean(layer::fc<1>(x));
});

}  // namespace

TEST_CASE("evaluators of v2 report errors, areas and sums by their names") {
  using sample = std::tuple<std::array<float, 2>, std::array<float, 3>, std::int64_t, std::int64_t>;
  const std::vector<sample> data{
      {{0.75f, 0.25f}, {0.5f, 0.25f, 0.125f}, 0, 0},  // right at once
      {{0.5f, 0.5f}, {0.5f, 0.25f, 0.125f}, 1, 1},    // right at the second
      {{0.25f, 0.75f}, {0.5f, 0.25f, 0.125f}, 0, 2},  // wrong
      {{0.125f, 0.875f}, {0.25f, 0.5f, 0.125f}, 1, 1}};
  auto parameters = paddle::parameters::create(cost);
  paddle::trainer::SGD trainer(cost, parameters, paddle::optimizer::SGD());
  const auto result = trainer.test(paddle::batch(data, 4));
  CHECK(result.metrics["classification_error_evaluator"] == Approx(0.5));
  CHECK(result.metrics["second"] == Approx(0.25));
  CHECK(result.metrics["total"] == Approx(4));
  // Three of the four pairs of a 0 and a 1 are in order: 0.5 and 0.875 lie above 0.25, 0.875 above
  // 0.75, and 0.5 does not.
  CHECK(result.metrics["auc_evaluator"] == Approx(0.75).margin(1e-3));
}
