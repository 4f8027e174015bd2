// SPDX-License-Identifier: Apache-2.0
// Cross entropies: gradients, edge values, the engine against the executor.
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "engine/edge_programs.hpp"
#include "executor/shared_executor.hpp"
#include "laws/edge_law.hpp"
#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>
#include <laws/gradient_check.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::tensor;
using lamina::law::check_engine;
using lamina::law::engine_law_options;

namespace {

template <int W>
constexpr auto cross_entropies = program([](block& main) {
  auto x = layer::data<"x", float, W>(main);
  auto soft = layer::data<"soft", float, W>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto many = layer::data<"many", float, 3, W>(main);
  auto labels = layer::data<"labels", std::int64_t, 3, 1>(main);
  auto a = layer::cross_entropy(x, label, {.ignore_index = 1});
  auto b = layer::cross_entropy(x, soft);
  auto c = layer::cross_entropy(many, labels);
  auto d = layer::softmax_with_cross_entropy(x, label, {.ignore_index = 0});
  auto e = layer::softmax_with_cross_entropy(x, soft);
  auto f = layer::softmax_with_cross_entropy(many, labels);
  auto g = layer::bpr_loss(x, label);
  auto cost = layer::mean(a * a) + layer::mean(b * b) + layer::mean(c * c) + layer::mean(d * d) +
              layer::mean(e * e) + layer::mean(f * f) + layer::mean(g * g);
  return std::tuple{cost, a, b, c, d, e, f, g};
});

}  // namespace

TEST_CASE("cross entropies on the engine are those of the executor") {
  const engine_law_options o{.low = 0.1f, .limit = 3};
  check_engine(cross_entropies<3>, o);
  check_engine(cross_entropies<5>, o);
  check_engine(cross_entropies<33>, o);
}

namespace {

const lamina::feed_map three_labels{{"label", tensor({3, 1}, std::vector<std::int64_t>{2, 0, 3})}};

laws::gradient_options between_0_and_1() {
  laws::gradient_options o;
  o.low = 0.1f;
  o.high = 0.9f;
  return o;
}

}  // namespace

TEST_CASE("gradient: cross entropy of probabilities, hard and soft labels") {
  laws::check_gradients(lamina::program([](block& main) {
                          auto x = layer::data<"x", float, 4>(main);
                          auto label = layer::data<"label", std::int64_t>(main);
                          return layer::mean(layer::cross_entropy(x, label, {.ignore_index = 0}));
                        }),
                        three_labels, between_0_and_1());
  laws::gradient_options soft = between_0_and_1();
  soft.constant = {"target"};
  laws::check_gradients(lamina::program([](block& main) {
                          auto x = layer::data<"x", float, 4>(main);
                          auto target = layer::data<"target", float, 4>(main);
                          return layer::mean(layer::cross_entropy(layer::softmax(x), target) +
                                             layer::softmax_with_cross_entropy(x, target));
                        }),
                        {}, soft);
}

TEST_CASE("gradient: softmax_with_cross_entropy, hard, ignored and soft labels") {
  laws::check_gradients(
      lamina::program([](block& main) {
        auto x = layer::fc<4>(layer::data<"x", float, 2>(main));
        auto label = layer::data<"label", std::int64_t>(main);
        return layer::mean(layer::softmax_with_cross_entropy(x, label) +
                           layer::softmax_with_cross_entropy(x, label, {.ignore_index = 3}));
      }),
      three_labels);
}

TEST_CASE("gradient: sigmoid_cross_entropy_with_logits, normalised over what is not ignored") {
  const tensor label({3, 2}, std::vector<float>{0, 1, 0.25f, -7, 1, 0});
  laws::gradient_options options;
  options.constant = {"label"};
  laws::check_gradients(
      lamina::program([](block& main) {
        auto x = layer::fc<2>(layer::data<"x", float, 3>(main));
        auto label = layer::data<"label", float, 2>(main);
        auto plain = layer::sigmoid_cross_entropy_with_logits(x, label, {.ignore_index = -7});
        layer::layer_helper normalised(*main.builder, "normalised");
        auto out = normalised.output<decltype(x)>();
        main.builder->add_operator(
            lamina::schema_of<lamina::operators::sigmoid_cross_entropy_with_logits>(),
            {x.id, label.id}, {out.id}, main.builder->attribute_list(-7, true));
        return layer::mean(plain + out);
      }),
      {{"label", label}}, options);
}

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using lamina::law::check_finite;

using namespace test::edges;

// The edges of a probability and a target, in costs that are written by hand.
constexpr auto log_of_softmax = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto w = layer::data<"w", float, 3>(main);
  auto y = layer::expand<1, 1, 2>(layer::reshape<3, 1>(x));
  auto along = layer::log(layer::softmax(x));
  auto across = layer::reduce_sum<2>(layer::log(layer::softmax<1>(y)));
  return std::tuple{layer::mean(along * w + across * w)};
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
  for (const double grad : all.back()) CHECK(std::isfinite(grad));
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
