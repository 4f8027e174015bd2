// SPDX-License-Identifier: Apache-2.0
// A training loop that is a program and reads sequences: their lengths differ in each iteration,
// and it trains as a loop outside does.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

using integer = std::int64_t;

namespace {

constexpr lamina::optimizer::adam adam{.learning_rate = 0.02f};

/// Which of two words a text has more of: a recurrence written by hand beside a convolution.
template <class W, class F, class Y>
constexpr auto cost_of(W word, F weight, Y label) {
  auto e = layer::embedding<6, 5>(word, {.is_sparse = true}) * weight;
  auto states = layer::dynamic_rnn(e, [&](auto& step) {
    auto before = step.memory(lamina::dims<4>, {.value = 0.f});
    auto next = layer::tanh(layer::fc<4>(std::tuple{step.input(e), before}));
    step.update(before, next);
    return next;
  });
  auto last = layer::sequence_last_step(states);
  auto seen = layer::sequence_conv_pool<3, 3>(e);
  auto logits = layer::fc<2>(std::tuple{last, seen});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
}

constexpr auto inside = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto last = layer::fill_constant<float>(main, 0);
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [word, weight, label] =
        layer::read_minibatch<"texts", lamina::sequence_field<"word", integer>,
                              lamina::sequence_field<"word", float>, lamina::field<integer>>(loop,
                                                                                             more);
    auto cost = cost_of(word, weight, label);
    adam.minimize(cost);
    last = cost;
  });
  return last;
});

constexpr auto outside = lamina::program([](lamina::block& main) {
  auto word = layer::sequence<"word", integer>(main);
  auto weight = layer::sequence<"weight", float>(word);
  auto label = layer::data<"label", integer>(main);
  return cost_of(word, weight, label);
});

using inside_type = std::remove_const_t<decltype(inside)>;

using outside_type = std::remove_const_t<decltype(outside)>;

using sample = std::tuple<std::vector<integer>, std::vector<float>, integer>;

using minibatch = std::vector<sample>;

/// Texts of one to nine words; one of the last mini-batch has none.
std::vector<minibatch> some_texts() {
  std::vector<minibatch> all;
  for (int b = 0; b < 20; ++b) {
    all.emplace_back();
    for (int i = 0; i < 4 + b * 5 % 3; ++i) {
      std::vector<integer> words;
      std::vector<float> weights;
      int ones = 0, twos = 0;
      for (int k = 0; k < (b * 7 + i * 3) % 9 + 1; ++k) {
        words.push_back((k * 5 + i * 3 + b) % 6);
        weights.push_back(1 + 0.125f * static_cast<float>(k % 3));
        ones += words.back() == 1 ? 1 : 0, twos += words.back() == 2 ? 1 : 0;
      }
      if (b == 19 && i == 2) words.clear(), weights.clear();
      all.back().push_back({words, weights, ones > twos ? 1 : 0});
    }
  }
  return all;
}

}  // namespace

TEST_CASE("a training loop inside of a program reads sequences, and trains as one outside") {
  const auto texts = some_texts();
  lamina::model in{inside};
  lamina::model out{outside};
  const lamina::model first{outside};
  const lamina::run_summary found = lamina::run(in, texts);
  CHECK(found.minibatches == 20);

  lamina::cpu_trainer<outside_type, lamina::optimizer::adam> trainer(adam, out);
  lamina::feeder<outside_type> feeder;
  float last = 0;
  for (const minibatch& b : texts) {
    feeder.fill(b);
    last = trainer.step(feeder.view());
  }
  CHECK(found.cost == Approx(last).epsilon(1e-6));

  lamina::basic_executor<double> executor;
  lamina::scope scope;
  executor.run_startup(inside.view(), scope);
  for (int i = 0; i < lamina::counts_of<inside_type>.parameters; ++i)
    scope.var(lamina::variable_name(inside.view(), inside.view().parameters[i].variable)) =
        lamina::tensor(first.get(i)).cast(lamina::dtype::float64);
  std::size_t next = 0;
  lamina::run_options options;
  options.next_minibatch = [&](lamina::feed_map& feed) {
    const minibatch& b = texts[next++];
    std::vector<integer> words, labels;
    std::vector<float> weights;
    std::vector<std::size_t> lengths;
    for (const auto& [word, weight, label] : b) {
      words.insert(words.end(), word.begin(), word.end());
      weights.insert(weights.end(), weight.begin(), weight.end());
      lengths.push_back(word.size());
      labels.push_back(label);
    }
    const lamina::lod sequences = lamina::lod::from_lengths({lengths});
    feed["texts_0"] = lamina::lod_tensor(lamina::tensor({words.size(), 1}, words), sequences);
    feed["texts_1"] = lamina::lod_tensor(lamina::tensor({words.size(), 1}, weights), sequences);
    feed["texts_2"] = lamina::tensor({labels.size(), 1}, labels);
    return next < texts.size();
  };
  const auto cost = executor.run(inside.view(), scope, {}, options)[0].as<double>().flat(0);
  CHECK(found.cost == Approx(cost).epsilon(1e-4));

  REQUIRE(lamina::counts_of<inside_type>.parameters == lamina::counts_of<outside_type>.parameters);
  for (int i = 0; i < lamina::counts_of<inside_type>.parameters; ++i) {
    const std::string name =
        lamina::variable_name(inside.view(), inside.view().parameters[i].variable);
    INFO(name);
    const auto a = in.get(i), b = out.get(i), begin = first.get(i);
    const auto exact = scope.get(name).cast<double>();
    double moved = 0, apart = 0, off = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
      moved = std::max(moved, std::abs(static_cast<double>(a.flat(k) - begin.flat(k))));
      apart = std::max(apart, std::abs(static_cast<double>(a.flat(k) - b.flat(k))));
      off = std::max(off, std::abs(static_cast<double>(a.flat(k)) - exact.flat(k)));
    }
    CHECK(moved > 0.05);
    // Outside, weights of the recurrence are turned once a step: other sums, another last digit.
    CHECK(apart < 1e-6);
    CHECK(off < 2e-4);
  }
}
