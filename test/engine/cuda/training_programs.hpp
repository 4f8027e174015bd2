// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/training_programs.hpp - training loops that are programs, and mini-batches for
// them. For tests on the host and for a run on a device.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <tuple>
#include <vector>

#include "engine/cuda/train_both.hpp"

#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/operators/control/rnn/layer_dynamic.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/optimizer/minimize.hpp>
#include <lamina/train/device/device_run.hpp>

namespace test {

/// Two layers, trained by an optimizer as long as there are mini-batches; the second has a rate and
/// a clip of its own.
template <const auto& Opt>
inline constexpr auto trained = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto last = layer::fill_constant<float>(main, 0);
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [x, label] =
        layer::read_minibatch<"train", lamina::field<float, 5>, lamina::field<std::int64_t>>(loop,
                                                                                             more);
    auto hidden = layer::fc<20>(x, {.act = activation::tanh});
    auto logits = layer::fc<3>(hidden, {.param = {.learning_rate = 0.5f}});
    auto cost = layer::mean(layer::softmax_with_cross_entropy(logits, label));
    Opt.minimize(cost);
    last = cost;
  });
  return last;
});

/// As long as there are mini-batches and the cost is not small: the place says whether it is, and
/// changes a number of slots that the host knows.
template <const auto& Opt>
inline constexpr auto until_learned = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto enough = layer::fill_constant<float>(main, 0.9f);
  auto last = layer::fill_constant<float>(main, 0);
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [x, label] =
        layer::read_minibatch<"train", lamina::field<float, 5>, lamina::field<std::int64_t>>(loop,
                                                                                             more);
    auto kept = layer::array_write(x, layer::fill_constant<std::int64_t>(loop, 1));
    auto logits = layer::fc<3>(layer::fc<20>(x, {.act = activation::tanh}));
    auto cost = layer::mean(layer::softmax_with_cross_entropy(logits, label));
    Opt.minimize(cost);
    auto slots = layer::array_length(kept);
    auto going = layer::greater_than(cost, enough);
    layer::conditional_block(going, [&](lamina::block&) {
      slots = slots + layer::cast<std::int64_t>(layer::scale(cost, 4.0f));
    });
    last = cost + layer::cast<float>(slots);
    more = layer::logical_and(more, going);
  });
  return last;
});

/// Passes around mini-batches of sentences: rows of a table, a recurrence, steps of a loop, a mask
/// that is another in each iteration.
template <const auto& Opt>
inline constexpr auto passes = lamina::program([](lamina::block& main) {
  auto pass = layer::fill_constant<std::int64_t>(main, 0);
  auto count = layer::fill_constant<std::int64_t>(main, 2);
  auto sum = layer::fill_constant<float>(main, 0);
  auto going = layer::less_than(pass, count);
  layer::while_loop(going, [&](lamina::block& body) {
    auto more = layer::fill_constant<bool>(body, true);
    layer::while_loop(more, [&](lamina::block& loop) {
      auto [word, label] =
          layer::read_minibatch<"train", lamina::sequence_field<"words", std::int64_t>,
                                lamina::field<std::int64_t>>(loop, more);
      auto e = layer::embedding<11, 6>(word, {.param = {.name = "words"}, .is_sparse = true});
      auto hidden = std::get<0>(layer::dynamic_lstm<24>(layer::fc<24>(e)));
      auto states = layer::dynamic_rnn(e, [&](auto& step) {
        auto before = step.memory(lamina::dims<4>);
        auto next = layer::tanh(layer::fc<4>(std::tuple{step.input(e), before}));
        step.update(before, next);
        return next;
      });
      auto text = std::tuple{layer::sequence_pool(hidden, {.type = lamina::pooling_type::max}),
                             layer::sequence_pool(states, {.type = lamina::pooling_type::sum})};
      auto logits = layer::fc<3>(layer::dropout(layer::concat<1>(text), 0.2f));
      auto cost = layer::mean(layer::softmax_with_cross_entropy(logits, label));
      Opt.minimize(cost);
      sum = sum + cost;
    });
    layer::increment(pass);
    layer::less_than(pass, count, going);
  });
  return sum;
});

/// Costs summed up over mini-batches of other rows, two for each update: each iteration's gradient
/// reads its own mini-batch.
template <const auto& Opt>
inline constexpr auto summed_rows = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto two = layer::fill_constant<std::int64_t>(main, 2);
  auto last = layer::fill_constant<float>(main, 0);
  layer::while_loop(more, [&](lamina::block& step) {
    auto sum = layer::fill_constant<float>(step, 0);
    auto n = layer::fill_constant<std::int64_t>(step, 0);
    auto going = layer::fill_constant<bool>(step, true);
    layer::while_loop(going, [&](lamina::block& loop) {
      auto [x, label] =
          layer::read_minibatch<"train", lamina::field<float, 5>, lamina::field<std::int64_t>>(
              loop, more);
      auto turned = layer::reshape<5, 1>(x);
      auto rows = layer::fc<4>(std::tuple{layer::fc<7>(x, {.act = activation::tanh}),
                                          layer::reshape<5>(turned * turned)},
                               {.act = activation::tanh});
      auto cost = layer::mean(layer::softmax_with_cross_entropy(layer::fc<3>(rows), label));
      sum = sum + cost;
      n = n + 1;
      going = layer::logical_and(more, layer::less_than(n, two));
    });
    Opt.minimize(sum);
    last = sum;
  });
  return last;
});
/// The same of sentences, with one update: sequences of other lengths, steps, made sequences, and a
/// gradient of some rows of a table.
template <const auto& Opt>
inline constexpr auto summed_sentences = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto sum = layer::fill_constant<float>(main, 0);
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [word, label] =
        layer::read_minibatch<"train", lamina::sequence_field<"words", std::int64_t>,
                              lamina::field<std::int64_t>>(loop, more);
    auto e = layer::embedding<11, 6>(word, {.is_sparse = true});
    auto states = layer::dynamic_rnn(e, [&](auto& step) {
      auto before = step.memory(lamina::dims<4>);
      auto next = layer::tanh(layer::fc<4>(std::tuple{step.input(e), before}));
      step.update(before, next);
      return next;
    });
    auto kept = layer::sequence_erase<"kept">(word, {2});
    auto other =
        layer::sequence_pool(layer::embedding<11, 3>(kept), {.type = lamina::pooling_type::sum});
    auto logits = layer::fc<3>(
        std::tuple{layer::sequence_last_step(states), layer::sequence_conv_pool<3, 3>(e), other});
    sum = sum + layer::mean(layer::softmax_with_cross_entropy(logits, label));
  });
  Opt.minimize(sum);
  return sum;
});

/// Two costs for parameters of their own, a rate that the program computes and keeps, weights that
/// are limited after each update, a slow copy of a matrix.
template <const auto& Opt>
inline constexpr auto storing = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto last = layer::fill_constant<float>(main, 0);
  auto rate = layer::create_global_var<float>(main, 0.25, {.name = "rate"});
  auto slow = layer::create_global_var<float, 5, 20>(main, 0.125, {.name = "slow"});
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [x, label] =
        layer::read_minibatch<"train", lamina::field<float, 5>, lamina::field<std::int64_t>>(loop,
                                                                                             more);
    auto w = layer::create_parameter<float, 5, 20>(loop, {.name = "first"});
    auto hidden = layer::tanh(layer::matmul(x, w) + layer::matmul(x, slow));
    auto cost = layer::mean(
        layer::softmax_with_cross_entropy(layer::fc<3>(hidden, {.name = "second"}), label));
    lamina::optimizer::adam{.learning_rate = rate * 0.1f}.minimize(cost, lamina::prefix<"second">);
    layer::store(rate * 0.75f, rate);
    auto size = layer::mean(layer::square(layer::matmul(x, w) - 0.5f));
    Opt.minimize(size, lamina::only<"first">);
    layer::store(layer::clip(w, -0.3f, 0.3f), w);
    layer::store(0.5f * slow + 0.5f * w, slow);
    last = cost + size;
  });
  return last;
});

using row_sample = std::tuple<std::vector<float>, std::int64_t>;
using sentence_sample = std::tuple<std::vector<std::int64_t>, std::int64_t>;

/// Mini-batches that grow, shrink and come back.
inline std::vector<std::vector<row_sample>> row_minibatches() {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> number(-1, 1);
  std::vector<std::vector<row_sample>> all;
  for (const int n : {3, 5, 3, 9, 5, 1, 9, 3, 3, 9, 9, 9}) {
    all.emplace_back();
    for (int i = 0; i < n; ++i) {
      std::vector<float> x;
      for (int k = 0; k < 5; ++k) x.push_back(number(random));
      all.back().push_back({x, static_cast<std::int64_t>(random() % 3)});
    }
  }
  return all;
}
/// The same of sentences, some of them without words.
inline std::vector<std::vector<sentence_sample>> sentence_minibatches() {
  std::mt19937 random(9);
  std::vector<std::vector<sentence_sample>> all;
  for (const int n : {2, 4, 2, 6, 3}) {
    all.emplace_back();
    for (int i = 0; i < n; ++i) {
      std::vector<std::int64_t> words;
      for (unsigned k = random() % 5; k > 0; --k)
        words.push_back(static_cast<std::int64_t>(random() % 11));
      all.back().push_back({words, static_cast<std::int64_t>(random() % 3)});
    }
  }
  for (const std::size_t again : {0u, 1u, 0u}) all.push_back(all[again]);
  return all;
}

/// How far costs and parameters are apart after a run on the CPU and one by a backend.
template <class P, class Backend, class Batches>
difference run_both(P program, Backend& backend, const Batches& batches) {
  note_trained<P, P>();
  lamina::model on_cpu{program, 3}, on_device{program, 3};
  const lamina::run_program_options options{.seed = 11};
  const lamina::run_summary wanted = lamina::run(on_cpu, batches, options);
  const lamina::run_summary found = lamina::run_by(backend, on_device, batches, options);
  difference d;
  const double a = static_cast<double>(wanted.cost), b = static_cast<double>(found.cost);
  d.cost = std::isfinite(b) ? std::abs(a - b) / std::max(1e-3, std::abs(a)) : 1;
  d.metric = wanted.minibatches == found.minibatches && wanted.samples == found.samples ? 0 : 1;
  d.parameters = parameters_apart(on_cpu, on_device);
  return d;
}

}  // namespace test
