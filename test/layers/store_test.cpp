// SPDX-License-Identifier: Apache-2.0
// What is stored in a variable is read by what follows, in each iteration of a loop too.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "executor/shared_executor.hpp"
#include "train/interpreted_training.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

using integer = std::int64_t;

namespace {

using sample = std::tuple<std::vector<float>, integer>;
using minibatch = std::vector<sample>;

std::vector<minibatch> some_minibatches() {
  std::vector<minibatch> all;
  for (int b = 0; b < 5; ++b) {
    all.emplace_back();
    for (int i = 0; i < 3 + b % 3; ++i)
      all.back().push_back({{static_cast<float>((i * 13 + b * 29) % 17) / 8 - 1.0f,
                             static_cast<float>((i * 7 + b * 5) % 11) / 4 - 1.0f},
                            (i + b) % 3});
  }
  return all;
}

/// The interpreter runs the program from the parameters of `first` and arrives where `in` did.
template <class P>
void check_interpreted(const P& program, const lamina::model<P>& first, const lamina::model<P>& in,
                       const std::vector<minibatch>& batches) {
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  const auto view = program.view();
  interpreted::start(executor, scope, program, first);
  std::size_t next = 0;
  executor.run(view, scope, {}, interpreted::reading(batches, 2, next));
  for (int i = 0; i < lamina::counts_of<P>.parameters; ++i) {
    const std::string name = in.describe(i).name;
    INFO(name);
    const auto a = in.get(i);
    CHECK(a != first.get(i));
    const auto expected = scope.get(name).template cast<double>();
    for (std::size_t k = 0; k < a.size(); ++k)
      REQUIRE(static_cast<double>(a.flat(k)) == Approx(expected.flat(k)).margin(3e-6));
  }
}

// Weights are limited after each update (a critic of Arjovsky et al. 2017), the rate falls, a slow
// copy of a matrix follows it and is used by the next mini-batch, and a row is overwritten between
// two uses.
constexpr auto loop_of_stores = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto last = layer::fill_constant<float>(main, 0);
  auto rate = layer::create_global_var<float>(main, 0.5, {.name = "rate"});
  auto slow = layer::create_global_var<float, 2, 17>(main, 0.125, {.name = "slow"});
  auto row = layer::create_global_var<float, 17>(main, 1, {.name = "row"});
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [x, label] =
        layer::read_minibatch<"train", lamina::field<float, 2>, lamina::field<integer>>(loop, more);
    auto w = layer::create_parameter<float, 2, 17>(loop, {.name = "w"});
    auto h = layer::matmul(x, w) + layer::matmul(x, slow);
    auto once = h * layer::assign(row);  // the row of the mini-batch before
    layer::store(row * 0.5f + 0.25f, row);
    auto twice = layer::tanh(once) * row;  // the new row
    auto cost =
        layer::mean(layer::softmax_with_cross_entropy(layer::fc<3>(twice, {.name = "out"}), label));
    lamina::optimizer::sgd{.learning_rate = rate}.minimize(cost);
    layer::store(layer::clip(w, -0.3f, 0.3f), w);
    layer::store(0.75f * slow + 0.25f * w, slow);
    layer::store(rate * 0.5f, rate);
    last = cost + layer::mean(layer::matmul(x, w)) + layer::mean(layer::matmul(x, slow));
  });
  return last;
});

// Fluid's example of Switch: a branch stores the learning rate, which another one leaves.
constexpr auto branches = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto last = layer::fill_constant<float>(main, 0);
  auto rate = layer::create_global_var<float>(main, 0, {.name = "rate"});
  auto table = layer::create_global_var<float, 2, 3>(main, 0, {.name = "table"});
  auto steps = layer::create_global_var<float>(main, 0, {.name = "steps"});
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [x, label] =
        layer::read_minibatch<"train", lamina::field<float, 2>, lamina::field<integer>>(loop, more);
    auto logits = layer::fc<3>(x, {.name = "out"}) + layer::matmul(x, table);
    auto cost = layer::mean(layer::softmax_with_cross_entropy(logits, label));
    auto first = layer::equal(steps, layer::fill_constant<float>(loop, 0));
    auto third = layer::equal(steps, layer::fill_constant<float>(loop, 2));
    layer::switch_case(first, [&](lamina::block& b) {
      layer::store(layer::fill_constant<float>(b, 0.5), rate);
    }).when(third, [&](lamina::block&) {
      layer::store(rate * 0.5f, rate);
      layer::store(table + 0.25f, table);
    });
    lamina::optimizer::momentum{.learning_rate = rate}.minimize(cost);
    layer::store(steps + 1.0f, steps);
    last = cost;
  });
  return last;
});

// The same in a program without a loop, which several threads train.
constexpr auto step_of_stores = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  auto steps = layer::create_global_var<float>(main, 3, {.name = "steps"});
  auto seen = layer::create_global_var<float, 2>(main, 0, {.name = "seen"});
  auto slow = layer::create_global_var<float, 2, 5>(main, 0.5, {.name = "slow"});
  layer::store(steps + 1.0f, steps);
  auto mean_x = layer::reduce_mean<0>(x);
  layer::store(0.5f * seen + 0.5f * mean_x, seen);
  layer::matmul(x, slow, {.name = "slow_before"});
  layer::store(slow * 2.0f, slow);
  layer::matmul(x, slow, {.name = "slow_after"});
  return layer::mean(layer::square(layer::fc<1>(x, {.name = "out"}) - steps));
});

// Weights that are trained and limited in the same step.
constexpr auto limited = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  auto cost = layer::mean(layer::square(layer::fc<18>(x, {.bias = false, .name = "out"}) - 1.0f));
  auto w = layer::create_parameter<float, 2, 18>(main, {.name = "out.w_0"});
  layer::store(layer::clip(w, -0.125f, 0.125f), w);
  return cost;
});

struct point {
  std::array<float, 2> x;
};

}  // namespace

TEST_CASE("values that a loop stores are those of the interpreter") {
  const auto batches = some_minibatches();
  lamina::model in{loop_of_stores};
  const lamina::model first{loop_of_stores};
  lamina::run(in, batches);
  check_interpreted(loop_of_stores, first, in, batches);
  CHECK(in.parameter<"rate">()(0) == 0.5f / 32);
  float largest = 0;
  for (std::size_t k = 0; k < 34; ++k)
    largest = std::max(largest, std::abs(in.parameter<"w">().flat(k)));
  CHECK(largest == 0.3f);
  // A second run goes on from the values of the first, in both.
  const auto middle = in.clone();
  lamina::run(in, batches);
  check_interpreted(loop_of_stores, middle, in, batches);
}

TEST_CASE("what a branch stores stays when the branch does not run") {
  const auto batches = some_minibatches();
  lamina::model in{branches};
  const lamina::model first{branches};
  lamina::run(in, batches);
  check_interpreted(branches, first, in, batches);
  CHECK(in.parameter<"rate">()(0) == 0.25f);
  CHECK(in.parameter<"table">()(1, 2) == 0.25f);
  CHECK(in.parameter<"steps">()(0) == 5);
}

TEST_CASE("a training step stores, on one thread and on three, and evaluators do not") {
  const std::vector<point> batch{{{1, 2}},  {{3, -2}}, {{0.5f, 1}}, {{4, 1}},
                                 {{-1, 1}}, {{2, 2}},  {{1, 1}}};
  const auto trained = [&](int threads) {
    lamina::model m{step_of_stores};
    lamina::optimizer::sgd sgd{.learning_rate = 0};
    lamina::trainer t{m, sgd, {.threads = threads}};
    for (int i = 0; i < 3; ++i) t.step(batch);
    return m;
  };
  const auto one = trained(1), three = trained(3);
  for (const auto* m : {&one, &three}) {
    CHECK(m->parameter<"steps">()(0) == 6);
    CHECK(m->parameter<"seen">()(0) == Approx(1.5f * 0.875f));
    CHECK(m->parameter<"seen">()(1) == Approx(6 / 7.f * 0.875f));
    CHECK(m->parameter<"slow">()(1, 4) == 4);
  }
  lamina::evaluator e{one};
  for (int i = 0; i < 2; ++i) {
    e.forward(lamina::feed<"x">({1.f, 2.f}));
    CHECK(e.activation<"slow_before">()(0, 3) == 12);
    CHECK(e.activation<"slow_after">()(0, 3) == 12);
    CHECK(one.parameter<"steps">()(0) == 6);
  }
}

TEST_CASE("weights are limited, and then updated, on one thread and on three") {
  const std::vector<point> batch{{{1, 2}}, {{3, -2}}, {{0.5f, 1}}, {{4, 1}}, {{-1, 1}}};
  // The update follows the store: with w0 = clip(w), w = w0 - rate * the gradient, which is that of
  // the product with w, as the product comes before the store.
  lamina::model first{limited};
  lamina::gradient_machine g{first};
  g.backward(batch);
  const auto grad = g.gradient<"out.w_0">();
  for (const int threads : {1, 3}) {
    INFO(threads << " threads");
    lamina::model m{limited};
    const auto begin = m.parameter<"out.w_0">();
    lamina::optimizer::sgd sgd{.learning_rate = 0.01f};
    lamina::trainer t{m, sgd, {.threads = threads}};
    t.step(batch);
    const auto w = m.parameter<"out.w_0">();
    for (std::size_t k = 0; k < w.size(); ++k)
      REQUIRE(
          w.flat(k) ==
          Approx(std::clamp(begin.flat(k), -0.125f, 0.125f) - 0.01f * grad.flat(k)).margin(1e-6));
  }
}

TEST_CASE("gradients see the value that their operator read in its turn") {
  // d cost / d out = 2 (out(x) - steps) x, with the steps after the store.
  lamina::model m{step_of_stores};
  lamina::gradient_machine g{m};
  const std::vector<point> batch{{{1, 2}}};
  m.set_parameter<"out.w_0">(lamina::array<float>{{0.5f}, {1.f}});
  g.backward(batch);
  CHECK(g.gradient<"out.w_0">()(0, 0) == Approx(2 * (2.5f - 4)));
  CHECK(g.gradient<"out.w_0">()(1, 0) == Approx(2 * (2.5f - 4) * 2));
}
