// SPDX-License-Identifier: Apache-2.0
// Costs of each row of a mini-batch against all of its rows.
#include <array>
#include <cmath>
#include <vector>

#include "laws/operator_laws.hpp"
#include "operators/loss/in_batch_rows.hpp"
#include <catch2/catch.hpp>

#include <lamina/model/evaluator.hpp>
#include <lamina/operators/loss/in_batch/layer.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/train/trainer.hpp>

namespace layer = lamina::layer;
using Catch::Contains;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto anchor = layer::data<"anchor", float, 2>(main);
  auto positive = layer::data<"positive", float, 2>(main);
  auto labels = layer::data<"labels", std::int64_t>(main);
  layer::in_batch_cross_entropy(anchor, positive, {.name = "own"});
  return layer::npair_loss(layer::fc<2>(anchor, {.name = "out"}), positive, labels,
                           {.l2_reg = 0.1f});
});

struct sample {
  std::array<float, 2> anchor, positive;
  std::int64_t label;
};
const std::vector<sample> batch{{{1, 2}, {0.5f, 1}, 5},
                                {{-1, 0.5f}, {2, -1}, 3},
                                {{0, 1}, {1, 1}, 5},
                                {{2, -2}, {0, 0.25f}, 9}};

/// Fluid's equation: labels of all pairs divided by their sum in each row, the soft cross entropy
/// of the matrix of products, and the lengths of both sides.
double npair(const std::vector<std::array<double, 2>>& a, double l2_reg) {
  const std::size_t n = batch.size();
  double cost = 0, lengths = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> s(n);
    double sum = 0, equal = 0;
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < 2; ++k)
        s[j] += a[i][k] * static_cast<double>(batch[j].positive[k]);
      sum += std::exp(s[j]);
      equal += batch[i].label == batch[j].label ? 1 : 0;
    }
    for (std::size_t j = 0; j < n; ++j)
      if (batch[i].label == batch[j].label) cost += (std::log(sum) - s[j]) / equal;
    for (std::size_t k = 0; k < 2; ++k) {
      const double p = static_cast<double>(batch[i].positive[k]);
      lengths += a[i][k] * a[i][k] + p * p;
    }
  }
  return cost / static_cast<double>(n) + 0.25 * l2_reg * lengths / static_cast<double>(n);
}

}  // namespace

TEST_CASE("rows of in_batch obey the laws of all operators") {
  laws::operator_laws laws;
  rows::in_batch(laws);
}

TEST_CASE("gradients of several rows without labels") {
  laws::check_gradients(
      lamina::program([](lamina::block& main) {
        auto x = layer::fc<3>(layer::data<"x", float, 4>(main));
        auto y = layer::data<"y", float, 3>(main);
        return layer::mean(layer::square(layer::in_batch_cross_entropy(x * 2.0f, y)));
      }),
      {}, {.rows = 4});
}

TEST_CASE("npair_loss is Fluid's equation") {
  lamina::model m{net};
  const auto w = m.parameter<"out.w_0">();
  std::vector<std::array<double, 2>> a;
  for (const sample& s : batch) {
    a.push_back({});
    for (std::size_t k = 0; k < 2; ++k)
      a.back()[k] = static_cast<double>(s.anchor[0]) * static_cast<double>(w(0, k)) +
                    static_cast<double>(s.anchor[1]) * static_cast<double>(w(1, k));
  }
  lamina::evaluator e{m};
  const std::vector<std::vector<sample>> batches{batch};
  CHECK(e.test(batches).cost == Approx(npair(a, 0.1)).epsilon(1e-5));
}

TEST_CASE("without labels each row finds its own, with rows alone at no cost") {
  lamina::model m{net};
  lamina::evaluator e{m};
  e.forward(lamina::feed<"anchor">({1.f, 0.f, 0.f, 2.f}),
            lamina::feed<"positive">({3.f, 0.f, 0.f, 1.f}));
  const auto cost = e.activation<"own">();
  CHECK(cost(0, 0) == Approx(std::log1p(std::exp(-3.0))));
  CHECK(cost(1, 0) == Approx(std::log1p(std::exp(-2.0))));
  e.forward(lamina::feed<"anchor">({1.f, 50.f}), lamina::feed<"positive">({3.f, -2.f}));
  CHECK(e.activation<"own">()(0, 0) == 0);
  // Scores far apart are neither infinite nor NaN.
  e.forward(lamina::feed<"anchor">({1e4f, 0.f, 0.f, 1e4f}),
            lamina::feed<"positive">({-1e4f, 1e4f, 1.f, 1.f}));
  CHECK(e.activation<"own">()(0, 0) == Approx(1e8 + 1e4));
  CHECK(e.activation<"own">()(1, 0) == Approx(1e8 - 1e4));
}

TEST_CASE("a cost of all pairs is trained by one thread") {
  lamina::model m{net};
  lamina::optimizer::sgd sgd{.learning_rate = 0.2f};
  lamina::trainer t{m, sgd};
  const float first = t.step(batch);
  for (int i = 0; i < 30; ++i) t.step(batch);
  CHECK(t.step(batch) < 0.8f * first);
  CHECK_THROWS_AS((lamina::trainer{m, sgd, {.threads = 2}}), lamina::error);
}
