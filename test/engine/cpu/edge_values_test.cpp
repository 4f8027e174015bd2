// SPDX-License-Identifier: Apache-2.0
// Costs and norms at edge values: compared with the executor, and with what they have to be.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/edge_programs.hpp"
#include "laws/edge_law.hpp"

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
using namespace test::edges;

void check_finite(const std::vector<numbers>& all) {
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < all[i].size(); ++j) {
      INFO("variable " << i << ", element " << j);
      CHECK(std::isfinite(all[i][j]));
    }
}
constexpr auto equal_numbers = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1000>(main);
  auto image = layer::reshape<10, 10, 10>(x);
  auto row = layer::layer_norm(x, {.scale = false, .shift = false});
  return std::tuple{layer::mean(row), row,
                    layer::group_norm<2>(image, {.scale = false, .shift = false}),
                    layer::instance_norm(image, {.scale = false, .shift = false})};
});
// The edges of a probability and a target, in costs that are written by hand.
constexpr auto log_of_softmax = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto w = layer::data<"w", float, 3>(main);
  auto y = layer::expand<1, 1, 2>(layer::reshape<3, 1>(x));
  auto along = layer::log(layer::softmax(x));
  auto across = layer::reduce_sum<2>(layer::log(layer::softmax<1>(y)));
  return std::tuple{layer::mean(along * w + across * w)};
});
constexpr auto costs_of_nan = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1>(main);
  auto y = layer::data<"y", float, 1>(main);
  auto w = layer::data<"w", float, 1>(main);
  auto smooth = layer::smooth_l1(x, y, w, w);
  auto divergence = layer::kldiv_loss<layer::reduction::none>(x, y);
  auto cosine = layer::cos_sim(x, y);
  return std::tuple{layer::mean(smooth + divergence + cosine), smooth, divergence, cosine};
});
constexpr auto passed_on = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto y = layer::batch_norm(x, {.epsilon = 0});
  return std::tuple{layer::mean(y), y};
});

}  // namespace

// tiny-dnn/tiny-dnn#410, keras-team/keras#17634, Theano/Theano#3162
TEST_CASE("0 times infinity: labels of 0 and probabilities that underflow") {
  const auto all =
      lamina::law::check_edges(probabilities,
                               {joined({{120, 0, -1}, {120, 0, -1}, {0, 1, 2}, {-1e30, 1e30, 0}}),
                                joined({{1, 0, 0}, {0, 1, 0}, {0.5, 0.5, 0}, {0, 0, 1}}),
                                {0, 1, -100, 0}},
                               4);
  check_finite(all);
}
// pytorch/pytorch#11752
TEST_CASE("0 times infinity: soft labels of 0, logits of -inf, ignored and unweighted rows") {
  const auto all = lamina::law::check_edges(
      logits,
      {joined({{0, -infinity, 0}, {1e7, 1e7, -infinity}, {infinity, 0, 0}, {1, 2, 3}}),
       {1, 1, 0, 1},
       joined({{0.5, 0, 0.5}, {1, 0, 0}, {0, 0, 0}, {1, 0, 0}}),
       {0, 1, -100, -100}},
      4);
  for (const double slope : all.back()) CHECK(std::isfinite(slope));
  CHECK(all[1][0] == Approx(std::log(2.)));
  CHECK(all[1][1] == Approx(std::log(2.)));
  CHECK(all[2][1] == Approx(std::log(2.)));
}
// ml-explore/mlx#4188, pytorch/pytorch#11752
TEST_CASE("cancellation: logits that share a large number") {
  for (const double v : {1e4, 1e6, 1e7, -1e7}) {
    const auto all = lamina::law::check_edges(logits,
                                              {joined({{v, v, v - 1e6}, {v, v, v - 1e6}}),
                                               {1, 1},
                                               joined({{1, 0, 0}, {0.5, 0.5, 0}}),
                                               {0, 1}},
                                              2);
    for (int k : {1, 2})
      for (const double cost : all[static_cast<std::size_t>(k)])
        CHECK(cost == Approx(std::log(2.)).epsilon(1e-6));
  }
}
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
// tracel-ai/burn#5584, google-deepmind/optax#946
TEST_CASE("norms of zero vectors and of vectors around 1e20") {
  numbers some, other;
  for (int i = 0; i < 20; ++i) some.push_back(std::sin(i + 1.)), other.push_back(std::cos(3. * i));
  numbers x, y;
  const std::array<std::array<double, 2>, 7> sizes{
      {{0, 1}, {1, 0}, {0, 0}, {1, 1}, {1e20, 1e19}, {1e-22, 1}, {1e-18, 1e18}}};
  for (const auto& [a, b] : sizes)
    for (std::size_t i = 0; i < 20; ++i) x.push_back(a * some[i]), y.push_back(b * other[i]);
  const auto all = lamina::law::check_edges(norms, {x, y}, 7, 1e-4);
  check_finite(all);
  for (const int row : {0, 1, 2}) CHECK(all[1][static_cast<std::size_t>(row)] == 0);
  for (const int row : {4, 5, 6})
    CHECK(all[1][static_cast<std::size_t>(row)] == Approx(all[1][3]).epsilon(1e-5));
  for (const int k : {2, 3})  // directions do not depend on sizes
    for (const std::size_t row : {4u, 5u, 6u})
      for (std::size_t i = 0; i < 20; ++i)
        CHECK(all[static_cast<std::size_t>(k)][row * 20 + i] ==
              Approx(all[static_cast<std::size_t>(k)][60 + i]).epsilon(1e-5));
  for (std::size_t i = 0; i < 20; ++i)
    CHECK(all[4][80 + i] == Approx(all[4][60 + i]).epsilon(1e-4).margin(1e-5));
  check_finite(lamina::law::check_edges(
      slopes_of_norms, {numbers(x.begin(), x.begin() + 100), numbers(100, 1.)}, 5, 2e-2, 1e-5));
}
TEST_CASE("norms: clip_by_norm of zeros, large and small numbers") {
  for (const double size : {0., 1., 1e20, 1e-30, 1e38}) {
    const auto all =
        lamina::law::check_edges(clipped, {{3 * size, 0, -size, size, 2 * size, 0}}, 2);
    double squares = 0;
    for (const double v : all[0]) squares += v * v;
    CHECK(std::sqrt(squares) == Approx(size >= 1 ? 2 : size * std::sqrt(15.)));
  }
}
// tracel-ai/burn#5607, pytorch/pytorch#61521
TEST_CASE("norms of groups: zeros, large numbers, means far from 0") {
  numbers w, x;
  for (int i = 0; i < 36; ++i) w.push_back(std::cos(i * 0.7));
  for (const double size : {0., 1e20, 1e-20, 1.}) {
    numbers one;
    for (int i = 0; i < 36; ++i) one.push_back(size * std::sin(1.3 * i));
    check_finite(lamina::law::check_edges(groups, {one, w}, 1, 1e-3));
  }
}
// pytorch/pytorch#162489
TEST_CASE("norms: numbers whose sum, and slopes whose product, is more than a float") {
  numbers x, w;
  for (int i = 0; i < 36; ++i) w.push_back(std::cos(i * 0.7)), x.push_back(3 + std::sin(1.3 * i));
  for (const double size : {1e20, 3e37})
    for (const double slope : {1., 3e20}) {
      INFO(size << " and slopes of " << slope);
      numbers of_x, of_w;
      for (const double v : x) of_x.push_back(size * v);
      for (const double v : w) of_w.push_back(slope * v);
      check_finite(lamina::law::check_edges(groups, {of_x, of_w}, 1, 1e-3));
    }
}
// pytorch/pytorch#162489
TEST_CASE("norms of channels: large numbers, slopes of large numbers, equal numbers") {
  numbers x, w;
  for (int i = 0; i < 108; ++i) w.push_back(std::cos(i * 0.7)), x.push_back(std::sin(1.3 * i * i));
  const auto of_ones = lamina::law::check_edges(channels, {x, w}, 3, 1e-3, 1e-6);
  for (const double size : {1e20, 1e37})
    for (const double offset : {0., 3.})
      for (const double slope : {1., 1e20}) {
        INFO(size << " and slopes of " << slope << ", offset " << offset);
        numbers of_x, of_w;
        for (const double v : x) of_x.push_back(size * (v + offset));
        for (const double v : w) of_w.push_back(slope * v);
        const auto all = lamina::law::check_edges(channels, {of_x, of_w}, 3, 1e-3);
        check_finite(all);
        for (const std::size_t y : {1u, 2u})
          for (std::size_t i = 0; i < x.size(); ++i)
            CHECK(all[y][i] == Approx(of_ones[y][i]).epsilon(1e-3).margin(1e-3));
      }
  check_finite(lamina::law::check_edges(passed_on, {numbers(12, 5.)}, 3));
}
TEST_CASE("0 times infinity: batch_norm of one number a channel") {
  const auto all = lamina::law::check_edges(passed_on, {{infinity, 1, -infinity, 0}}, 1);
  CHECK(all[1] == numbers{infinity, 1, -infinity, 0});
  CHECK(std::find(all.begin() + 2, all.end(), numbers(4, 0.25)) != all.end());
}
TEST_CASE("bpr_loss of scores far apart") {
  check_finite(lamina::law::check_edges(ranked, {{1000, 0, -1000, -1000, 0, 1000}, {0, 0}}, 2));
}
// Theano/Theano#3162, google-deepmind/optax#1762
TEST_CASE("0 times infinity: the logarithm of a softmax that underflows") {
  const auto all = lamina::law::check_edges(log_of_softmax,
                                            {joined({{1e4, 0, -1e4}, {1, 2, 3}, {-infinity, 0, 0}}),
                                             joined({{1, 1, 1}, {1, 0, 0}, {0.5, 1, 1}})},
                                            3, 1e-5, 1e-6);
  for (std::size_t i = 0; i < 9; ++i) CHECK(std::isfinite(all[1][i]));
  const double sum = std::exp(1.) + std::exp(2.) + std::exp(3.);
  CHECK(all[1][3] == Approx(3 * (1 - std::exp(1.) / sum) / 9).epsilon(1e-5));
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
// pytorch/pytorch#5410, BVLC/caffe#3963
TEST_CASE("norms of equal numbers are 0, however large they are") {
  for (const double each : {100.1, 1e7 + 1, 123456.7, 1e20, -3e38, 1e-40}) {
    INFO("numbers " << each);
    const auto all = lamina::law::check_edges(equal_numbers, {numbers(2000, each)}, 2, 1e-5, 1e-3);
    for (std::size_t k = 0; k < 4; ++k)
      for (const double y : all[k])
        if (y != 0) FAIL("found " << y << " in result " << k);
  }
}
