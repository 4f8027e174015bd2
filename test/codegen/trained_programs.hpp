// SPDX-License-Identifier: Apache-2.0
// test/codegen/trained_programs.hpp - programs with calls of minimize.
#pragma once

#include <cstdint>
#include <tuple>

#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/minimize.hpp>
#include <lamina/optimizer/optimizers.hpp>
#include <lamina/program/program.hpp>

namespace trained_programs {

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;
namespace schedule = lamina::schedule;
using integer = std::int64_t;

// Every optimizer, schedule, clip and decay.
inline constexpr auto rules = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto y = layer::data<"y", float>(main);
  auto h = layer::fc<5>(x, {.act = lamina::activation::tanh});
  auto cost = layer::mean(layer::square_error_cost(layer::fc<1>(h), y));
  optimizer::sgd{.learning_rate = 0.125f, .regularization = lamina::l2_decay(0.01f)}.minimize(cost);
  optimizer::momentum{.learning_rate = schedule::exponential_decay{0.1f, 10, 0.5f, true},
                      .momentum = 0.5f,
                      .use_nesterov = true,
                      .clip = lamina::clip_by_value(-1, 2)}
      .minimize(cost);
  optimizer::adam{.learning_rate = schedule::noam_decay{64, 10, 0.5f},
                  .beta1 = 0.5f,
                  .epsilon = 1e-6f,
                  .regularization = lamina::l1_decay(0.01f),
                  .clip = lamina::clip_by_norm(0.5f)}
      .minimize(cost);
  optimizer::adamax{.learning_rate = schedule::natural_exp_decay{0.1f, 10, 0.5f}, .beta2 = 0.9f}
      .minimize(cost);
  optimizer::adagrad{.learning_rate = schedule::piecewise_decay({3, 5}, {0.5f, 0.25f, 0.125f}),
                     .epsilon = 1e-3f}
      .minimize(cost);
  optimizer::adadelta{.rho = 0.5f, .clip = lamina::clip_by_global_norm(2)}.minimize(cost);
  optimizer::decayed_adagrad{
      .learning_rate =
          schedule::polynomial_decay{.learning_rate = 0.1f, .decay_steps = 20, .cycle = true},
      .decay = 0.5f}
      .minimize(cost);
  optimizer::ftrl{.l1 = 0.5f, .l2 = 0.25f, .lr_power = -0.25f}.minimize(cost);
  optimizer::lamb{.learning_rate = schedule::cosine_decay{0.1f, 5, 3}, .lamb_weight_decay = 0.5f}
      .minimize(cost);
  optimizer::lars_momentum{.learning_rate = schedule::linear_lr_warmup{0.1f, 5, 0.01f, 0.1f},
                           .momentum = 0.5f,
                           .lars_coeff = 0.5f,
                           .lars_weight_decay = 0,
                           .clip = lamina::clip_by_value(0.5f)}
      .minimize(cost);
  optimizer::proximal_adagrad{.learning_rate = schedule::inverse_time_decay{0.1f, 10, 0.5f},
                              .l1 = 0.5f}
      .minimize(cost);
  optimizer::proximal_gd{.learning_rate = schedule::v2::poly{0.1f, 0.5, 0.75, 16}, .l2 = 0.5f}
      .minimize(cost);
  optimizer::rmsprop{.rho = 0.5f, .momentum = 0.25f, .centered = true}.minimize(cost);
  return cost;
});

// Options of parameters, sparse rows, parameters that only one call updates, a rate that the
// program computes and keeps.
inline constexpr auto options = lamina::program([](lamina::block& main) {
  auto ids = layer::data<"ids", integer>(main);
  auto y = layer::data<"y", float>(main);
  auto e = layer::embedding<7, 4>(
      ids, {.param = {.name = "table", .learning_rate = 2.5f}, .is_sparse = true});
  auto w = layer::create_parameter<float, 4, 5>(
      main, {.name = "w", .regularizer = lamina::l1_decay(0.5f)});
  auto h = layer::tanh(layer::matmul(e, w));
  auto frozen = layer::fc<5>(
      h, {.param = {.name = "frozen", .trainable = false},
          .bias_param = {.learning_rate = 0.5f, .gradient_clip = lamina::clip_by_norm(1)}});
  auto kept = layer::stop_gradient(layer::fc<5>(h));
  auto cost = layer::mean(layer::square_error_cost(layer::fc<1>(std::tuple{frozen, kept}), y));
  optimizer::adam{.learning_rate = 0.1f, .lazy_mode = true}.minimize(cost, lamina::except<"w">);
  auto rate = layer::create_global_var<float>(main, 0.5f, {.name = "rate"});
  optimizer::sgd{.learning_rate = rate}.minimize(cost, lamina::only<"w">);
  optimizer::adamax{.learning_rate = rate}.minimize(cost, std::tuple{w});
  layer::store(rate * layer::fill_constant<float>(main, 0.5f), rate);
  return cost;
});

// Costs that depend on a loop with a branch.
inline constexpr auto inner = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto h = layer::fc<4>(x);
  auto i = layer::fill_constant<integer>(main, 0);
  auto n = layer::fill_constant<integer>(main, 3);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](lamina::block& body) {
    auto more = layer::less_than(layer::mean(h), layer::fill_constant<float>(body, 100));
    layer::conditional_block(
        more, [&](lamina::block&) { h = layer::tanh(layer::fc<4>(h, {.name = "inner"})); });
    layer::increment(i);
    layer::less_than(i, n, going);
  });
  auto cost = layer::mean(layer::square(h));
  optimizer::sgd{.learning_rate = 0.1f}.minimize(cost);
  auto other = layer::mean(layer::abs(h));
  optimizer::momentum{.learning_rate = 0.1f}.minimize(other, lamina::only<"inner">);
  return std::tuple{cost, other};
});

}  // namespace trained_programs
