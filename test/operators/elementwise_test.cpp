// SPDX-License-Identifier: Apache-2.0
// Fused groups of pointwise operators compute what the executor does.
#include <tuple>

#include "laws/engine_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using lamina::block;
using lamina::program;
using lamina::law::check_engine;

namespace {

/// A cost to which each of some variables contributes, and they.
template <class... V>
constexpr auto with_cost(V... y) {
  return std::tuple{layer::mean(layer::sum({layer::square(y)...})), y...};
}

constexpr auto smooth = program([](block& main) {
  auto x = layer::data<"x", float, 11>(main);
  return with_cost(layer::logsigmoid(x), layer::softplus(x), layer::softsign(x),
                   layer::tanh_shrink(x), layer::exp(layer::scale(x, 0.25f)), layer::atan(x),
                   layer::selu(x), layer::elu(x, {.alpha = 0.7f}), layer::stanh(x),
                   layer::swish(x, {.beta = 1.5f}), layer::hard_swish(x), layer::cos(x));
});

constexpr auto kinked = program([](block& main) {
  auto x = layer::data<"x", float, 11>(main);
  return with_cost(layer::abs(x), layer::sign(x), layer::leaky_relu(x, {.alpha = 0.1f}),
                   layer::relu6(x, {.threshold = 2}), layer::brelu(x, {.t_min = -1, .t_max = 2}),
                   layer::soft_relu(x, {.threshold = 3}), layer::hard_sigmoid(x),
                   layer::hard_shrink(x), layer::softshrink(x),
                   layer::thresholded_relu(x, {.threshold = 0.3f}), layer::clip(x, -0.5f, 1.5f));
});

constexpr auto stepped = program([](block& main) {
  auto x = layer::data<"x", float, 11>(main);
  return with_cost(layer::ceil(x), layer::floor(x), layer::round(x), layer::square(x),
                   layer::cast<float>(layer::square(layer::cast<double>(x))));
});

// Between 0 and 1.
constexpr auto bounded = program([](block& main) {
  auto x = layer::data<"x", float, 11>(main), y = layer::data<"y", float, 11>(main);
  return with_cost(layer::acos(x), layer::asin(x), layer::log(x), layer::sqrt(x), layer::rsqrt(x),
                   layer::reciprocal(x), layer::pow(x, {.factor = 2.5f}),
                   layer::elementwise_pow(x, y), layer::elementwise_max(x, y),
                   layer::elementwise_min(x, y), layer::elementwise_div(x, y));
});

constexpr auto losses = program([](block& main) {
  auto x = layer::data<"x", float, 1>(main), y = layer::data<"y", float, 1>(main);
  auto label = layer::cast<float>(layer::data<"label", std::int64_t, 1>(main));
  auto p = layer::sigmoid(x);
  return with_cost(layer::log_loss(p, label), layer::hinge_loss(x, label),
                   layer::huber_loss(x, y, 0.5f), layer::modified_huber_loss(x, label),
                   layer::rank_loss(label, x, y), layer::margin_rank_loss(label, x, y));
});

}  // namespace

TEST_CASE("smooth pointwise operators and their gradients equal the executor's") {
  check_engine(smooth, {.low = -4, .high = 4});
}

TEST_CASE("pointwise operators with kinks and steps equal the executor's") {
  check_engine(kinked, {.low = -4, .high = 4});
  check_engine(stepped, {.low = -4, .high = 4});
}

TEST_CASE("pointwise operators of bounded numbers equal the executor's") {
  check_engine(bounded, {.low = 0.1f, .high = 0.9f, .tolerance = 5e-5});
}

TEST_CASE("pointwise costs equal the executor's") { check_engine(losses, {.low = -2, .high = 2}); }
