// SPDX-License-Identifier: Apache-2.0
// Costs of pairs of elements: gradients and edge values.
#include <cmath>
#include <limits>
#include <vector>

#include "engine/edge_programs.hpp"
#include "executor/shared_executor.hpp"
#include "laws/edge_law.hpp"
#include "operators/pointwise_values.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/layers/layers.hpp>

using namespace pointwise_values;
namespace layer = lamina::layer;
using lamina::block;
using lamina::tensor;

TEST_CASE("gradients of costs") {
  for (double x : smooth) {
    for (double label : {0.0, 1.0}) {
      check_gradient<lamina::operators::sigmoid_cross_entropy_with_logits>({x, label});
      check_gradient<lamina::operators::hinge_loss>({x, label});
      check_gradient<lamina::operators::modified_huber_loss>({x, label}, 1);
      for (double y : {-0.4, 1.9}) {
        check_gradient<lamina::operators::rank_loss>({label, x, y});
        check_gradient<lamina::operators::margin_rank_loss>({x, y, 2 * label - 1}, 1, {0.1});
      }
    }
    check_gradient<lamina::operators::huber_loss>({x, 0.5}, 1, {0.7});
  }
  for (double p : {0.1, 0.5, 0.9}) {
    check_gradient<lamina::operators::log_loss>({p, 0.0}, 0, {1e-4});
    check_gradient<lamina::operators::log_loss>({p, 1.0}, 0, {1e-4});
  }
}

TEST_CASE("costs have Fluid's values") {
  CHECK(value<lamina::operators::huber_loss>(0, {1, 4, 2}) == 3);
  CHECK(value<lamina::operators::huber_loss>(1, {1, 4, 2}) == Approx(2 * (3 - 1)));
  CHECK(value<lamina::operators::huber_loss>(1, {1, 2, 2}) == Approx(0.5));
  CHECK(value<lamina::operators::modified_huber_loss>(1, {-2, 1}) == 8);
  CHECK(value<lamina::operators::modified_huber_loss>(1, {0.5, 1}) == 0.25);
  CHECK(value<lamina::operators::modified_huber_loss>(1, {2, 1}) == 0);
  CHECK(value<lamina::operators::rank_loss>(0, {1, 2, 1}) ==
        Approx(std::log(1 + std::exp(1.0)) - 1));
  CHECK(value<lamina::operators::margin_rank_loss>(1, {1, 2, 1, 0.1}) == Approx(1.1));
  CHECK(value<lamina::operators::margin_rank_loss>(0, {1, 2, 1, 0.1}) == 1);
  CHECK(value<lamina::operators::margin_rank_loss>(0, {2, 1, 1, 0.1}) == 0);
  CHECK(value<lamina::operators::hinge_loss>(0, {0.25, 0}) == 1.25);
  CHECK(value<lamina::operators::log_loss>(0, {0.5, 1, 0}) == Approx(std::log(2.0)));
  CHECK(value<lamina::operators::sigmoid_cross_entropy_with_logits>(0, {1, 1, -100}) ==
        Approx(std::log(1 + std::exp(-1.0))));
  CHECK(value<lamina::operators::sigmoid_cross_entropy_with_logits>(0, {1, -100, -100}) == 0);
}

TEST_CASE("gradient: costs of pairs") {
  laws::check_gradients(lamina::program([](block& main) {
    auto x = layer::fc<3>(layer::data<"x", float, 3>(main));
    auto y = layer::fc<3>(layer::data<"y", float, 3>(main));
    return layer::mean(layer::huber_loss(x, y, 0.4f) + layer::square_error_cost(x, y)) +
           layer::mean(layer::smooth_l1(x, y, {.sigma = 1.5f}));
  }));
  laws::gradient_options signs;
  signs.constant = {"sign"};
  laws::check_gradients(lamina::program([](block& main) {
                          auto left = layer::fc<1>(layer::data<"x", float, 3>(main));
                          auto right = layer::fc<1>(layer::data<"y", float, 3>(main));
                          auto sign = layer::data<"sign", float, 1>(main);
                          return layer::mean(layer::margin_rank_loss(sign, left, right) +
                                             layer::rank_loss(sign, left, right));
                        }),
                        {{"sign", tensor({3, 1}, std::vector<float>{1, -1, 1})}}, signs);
}

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using lamina::law::check_finite;

using namespace test::edges;

constexpr auto costs_of_nan = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1>(main);
  auto y = layer::data<"y", float, 1>(main);
  auto w = layer::data<"w", float, 1>(main);
  auto smooth = layer::smooth_l1(x, y, w, w);
  auto divergence = layer::kldiv_loss<layer::reduction::none>(x, y);
  auto cosine = layer::cos_sim(x, y);
  return std::tuple{layer::mean(smooth + divergence + cosine), smooth, divergence, cosine};
});

}  // namespace

// tenstorrent/tt-metal#9910, microsoft/onnxruntime#10576
TEST_CASE("0 times infinity and cancellation: costs of pairs") {
  const auto all =
      lamina::law::check_edges(costs_of_pairs,
                               {{infinity, -infinity, 1e20, -1e20, 30, -30, -17, 17, -100, 0},
                                {1, 0, 1, 0, 1, 0, 0, 1, 0.25, 0.5},
                                numbers(10, 0.)},
                               10);
  check_finite(all);
  for (std::size_t k : {1u, 2u}) {
    CHECK(all[k][0] == 0);
    CHECK(all[k][3] == 0);
    CHECK(all[k][4] == Approx(std::exp(-30.)).epsilon(1e-5));
    CHECK(all[k][6] == Approx(std::exp(-17.)).epsilon(1e-5));
    CHECK(all[k][8] == Approx(25));
  }
}

// pytorch/pytorch#96813
TEST_CASE("NaN in costs stays NaN in gradients, and does not count where nothing does") {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const auto all = lamina::law::check_edges(
      costs_of_nan, {{none, 1, none, infinity, 0.5}, {0, none, 0, 0, 0.5}, {1, 1, 0, 0, 1}}, 5);
  CHECK(std::isnan(all[1][0]));
  CHECK(std::isnan(all[1][1]));
  CHECK(all[1][2] == 0);  // without a weight
  CHECK(all[1][3] == 0);
  CHECK(all[2][0] == 0);  // a target of 0
  CHECK(std::isnan(all[2][1]));
  CHECK(all[3][0] == 0);  // a vector of length 0
  const std::vector<double>&x = all[4], &y = all[5];
  CHECK(std::isnan(x[0]));
  CHECK(std::isnan(y[1]));
  for (const std::size_t row : {2u, 3u}) {
    CHECK(x[row] == 0);
    CHECK(y[row] == 0);
  }
}
