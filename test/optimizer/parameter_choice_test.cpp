// SPDX-License-Identifier: Apache-2.0
// Calls of minimize that update some of the parameters, and learning rates that a program computes.
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
#include <lamina/optimizer/parameter_choice.hpp>

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;

using integer = std::int64_t;

namespace {

/// A point of the data and, as its label, which row of the table of noise the forger takes.
using sample = std::tuple<std::vector<float>, integer>;
using minibatch = std::vector<sample>;

std::vector<minibatch> some_minibatches() {
  std::vector<minibatch> all;
  for (int b = 0; b < 7; ++b) {
    all.emplace_back();
    for (int i = 0; i < 3 + b % 3; ++i)
      all.back().push_back({{static_cast<float>((i * 13 + b * 29) % 17) / 8 - 1.0f,
                             static_cast<float>((i * 7 + b * 5) % 11) / 4},
                            (3 * i + b) % 6});
  }
  return all;
}

// -- a forger and its judge -------------------------------------------------------------------

constexpr float noise[] = {0.5f, -1, 2, 0.25f, -0.75f, 1, 1.5f, -2, 0, 0.5f, 1, 1};

template <class Ids>
constexpr auto forged_by(const Ids& ids) {
  auto drawn = layer::embedding<6, 2>(
      ids,
      {.param = {.name = "noise", .initializer = lamina::init::array(noise), .trainable = false}});
  auto h = layer::fc<5>(drawn, {.act = lamina::activation::tanh, .name = "g_hidden"});
  return layer::fc<2>(h, {.name = "g_point"});
}
template <class Point>
constexpr auto verdict_on(const Point& point) {
  auto h = layer::fc<6>(point, {.act = lamina::activation::tanh,
                                .param = {.name = "d_hidden.w"},
                                .bias_param = {.name = "d_hidden.b"}});
  return layer::fc<1>(h, {.param = {.name = "d_verdict.w"}, .bias_param = {.name = "d_verdict.b"}});
}
template <class Real, class Forged>
constexpr auto cost_of_judge(const Real& real, const Forged& forged) {
  return layer::mean(layer::softplus(-verdict_on(real))) +
         layer::mean(layer::softplus(verdict_on(forged)));
}
template <class Forged>
constexpr auto cost_of_forger(const Forged& forged) {
  return layer::mean(layer::softplus(-verdict_on(forged)));
}

constexpr optimizer::adam judging{.learning_rate = 5e-2f, .beta1 = 0.5f};
constexpr optimizer::momentum forging{.learning_rate = 3e-2f, .momentum = 0.5f};

/// Both parties in one program: first the judge learns, then the forger, from the new judge.
template <const auto& Judge, const auto& Forger>
constexpr auto both = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto last = layer::fill_constant<float>(main, 0);
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [real, ids] =
        layer::read_minibatch<"train", lamina::field<float, 2>, lamina::field<integer>>(loop, more);
    auto forged = forged_by(ids);
    judging.minimize(cost_of_judge(real, forged), Judge);
    auto cost = cost_of_forger(forged);
    forging.minimize(cost, Forger);
    last = cost;
  });
  return last;
});

/// The same as two programs, each with a trainer of its own and the other party frozen.
constexpr auto judges = lamina::program([](lamina::block& main) {
  auto real = layer::data<"real", float, 2>(main);
  auto ids = layer::data<"ids", integer>(main);
  return cost_of_judge(real, forged_by(ids));
});
constexpr auto forges = lamina::program([](lamina::block& main) {
  auto real = layer::data<"real", float, 2>(main);
  auto ids = layer::data<"ids", integer>(main);
  return cost_of_forger(forged_by(ids)) + 0 * layer::mean(real);
});

/// The interpreter, from the parameters of `first`, arrives where `in` did.
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
    const std::string name = lamina::variable_name(view, view.parameters[i].variable);
    INFO(name);
    const auto a = in.get(i), begin = first.get(i);
    const auto expected = scope.get(name).template cast<double>();
    double moved = 0, off = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
      moved = std::max(moved, std::abs(static_cast<double>(a.flat(k) - begin.flat(k))));
      off = std::max(off, std::abs(static_cast<double>(a.flat(k)) - expected.flat(k)));
    }
    if (P::desc.parameters[i].trainable)
      CHECK(moved > 1e-3);
    else
      CHECK(moved == 0);
    CHECK(off < 2e-6);
  }
}

/// The number of variables of a program whose name ends so and that belong to a parameter whose
/// name begins so.
template <class P>
int count_of(const P& program, const std::string& begins, const std::string& holds) {
  const auto view = program.view();
  int n = 0;
  for (int v = 0; v < view.count.variables; ++v) {
    const std::string name = lamina::variable_name(view, v);
    n += name.starts_with(begins) && name.find(holds) != std::string::npos ? 1 : 0;
  }
  return n;
}

template <int How>
constexpr auto by_handle = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto a = layer::create_parameter<float, 3, 2>(main, {.name = "a"});
  auto b = layer::create_parameter<float, 2, 2>(main, {.name = "b"});
  auto c = layer::create_parameter<float, 2>(main, {.name = "c"});
  auto cost = layer::mean(layer::matmul(layer::matmul(x, a), b) + c);
  if constexpr (How == 0) forging.minimize(cost, a);
  if constexpr (How == 1) forging.minimize(cost, std::tuple{c, a});
  if constexpr (How == 2) forging.minimize(cost);
});

// -- learning rates of the program ---------------------------------------------------------------

template <class X, class Y>
constexpr auto cost_of(X x, Y label) {
  auto hidden = layer::fc<7>(x, {.act = lamina::activation::tanh});
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<6>(hidden), label));
}

/// The rate falls as that of inverse_time_decay: the program counts the steps.
template <class Opt>
constexpr auto falling = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto last = layer::fill_constant<float>(main, 0);
  auto step = layer::fill_constant<float>(main, 0);
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [x, label] =
        layer::read_minibatch<"train", lamina::field<float, 2>, lamina::field<integer>>(loop, more);
    auto cost = cost_of(x, label);
    auto rate = layer::fill_constant<float>(loop, 0.25f) / (0.5f * step + 1.0f);
    Opt{.learning_rate = rate, .regularization = lamina::l2_decay(0.01f)}.minimize(cost);
    step = step + 1.0f;
    last = cost;
  });
  return last;
});
constexpr auto outside = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  auto label = layer::data<"label", integer>(main);
  return cost_of(x, label);
});

template <class Opt>
void compare() {
  constexpr auto& program = falling<Opt>;
  const auto batches = some_minibatches();
  lamina::model in{program};
  const lamina::model first{program};
  lamina::run(in, batches);
  check_interpreted(program, first, in, batches);

  const Opt same{.learning_rate =
                     lamina::schedule::inverse_time_decay{
                         .learning_rate = 0.25f, .decay_steps = 1, .decay_rate = 0.5f},
                 .regularization = lamina::l2_decay(0.01f)};
  lamina::model out{outside};
  lamina::trainer trainer{out, same};
  for (const minibatch& b : batches) trainer.step(b);
  for (int i = 0; i < in.parameter_arrays(); ++i) {
    INFO(in.describe(i).name);
    const auto a = in.get(i), b = out.get(i);
    for (std::size_t k = 0; k < a.size(); ++k) REQUIRE(std::abs(a.flat(k) - b.flat(k)) <= 1e-6f);
  }
}

}  // namespace

TEST_CASE("two costs of one program, each for the parameters of one party") {
  constexpr auto& program = both<lamina::prefix<"d_">, lamina::prefix<"g_">>;
  const auto batches = some_minibatches();
  lamina::model in{program};
  const lamina::model first{program};
  lamina::run(in, batches);
  check_interpreted(program, first, in, batches);

  // Two trainers take turns, as the program does.
  lamina::model judge{lamina::transform::freeze<"g_hidden", "g_point">(judges)};
  lamina::model forger{lamina::transform::freeze<"d_hidden", "d_verdict">(forges),
                       lamina::share_parameters_of(judge)};
  lamina::trainer teach_judge{judge, judging};
  lamina::trainer teach_forger{forger, forging};
  judge.copy_parameters(first);
  for (const minibatch& b : batches) {
    teach_judge.step(b);
    teach_forger.step(b);
  }
  for (int i = 0; i < in.parameter_arrays(); ++i) {
    INFO(in.describe(i).name);
    int same = 0;
    while (judge.describe(same).name != in.describe(i).name) ++same;
    const auto a = in.get(i), b = judge.get(same);
    for (std::size_t k = 0; k < a.size(); ++k) REQUIRE(std::abs(a.flat(k) - b.flat(k)) <= 1e-6f);
  }
}

TEST_CASE("parameters outside of a choice have neither gradients nor states") {
  constexpr auto& program = both<lamina::prefix<"d_">, lamina::prefix<"g_">>;
  CHECK(count_of(program, "d_hidden.w", "_moment1_") == 1);
  CHECK(count_of(program, "d_hidden.w", "_velocity_") == 0);
  CHECK(count_of(program, "g_hidden.w", "_velocity_") == 1);
  CHECK(count_of(program, "g_hidden.w", "_moment1_") == 0);
  // A gradient of the judge in its own step only: one for real points, one for forged, their sum.
  CHECK(count_of(program, "d_hidden.w", "@GRAD") == 3);
  CHECK(count_of(program, "g_hidden.w", "@GRAD") == 1);
}

TEST_CASE("whole words, beginnings of names and exceptions choose the same") {
  // Programs are compared by their variables: their names tell gradients and states.
  const auto names = [](const auto& program) {
    std::vector<std::string> all;
    const auto view = program.view();
    for (int v = 0; v < view.count.variables; ++v) all.push_back(lamina::variable_name(view, v));
    return all;
  };
  const auto expected = names(both<lamina::prefix<"d_">, lamina::prefix<"g_">>);
  CHECK(names(both<lamina::only<"d_hidden.w", "d_hidden.b", "d_verdict">,
                   lamina::only<"g_hidden", "g_point">>) == expected);
  CHECK(
      names(both<lamina::except<"g_hidden", "g_point">, lamina::except<"d_hidden", "d_verdict">>) ==
      expected);
  CHECK(names(both<lamina::prefix<"d_h", "d_v">, lamina::prefix<"g">>) == expected);
  CHECK(names(both<lamina::only<"d_hidden.w">, lamina::prefix<"g">>) != expected);
}

TEST_CASE("handles of parameters choose as their names do") {
  const auto updates = [](const auto& program) {
    std::vector<std::string> all;
    const auto view = program.view();
    for (int v = 0; v < view.count.variables; ++v)
      if (const auto name = lamina::variable_name(view, v); name.ends_with("_velocity_0"))
        all.push_back(name);
    return all;
  };
  CHECK(updates(by_handle<0>) == std::vector<std::string>{"a_velocity_0"});
  CHECK(updates(by_handle<1>) == std::vector<std::string>{"a_velocity_0", "c_velocity_0"});
  CHECK(updates(by_handle<2>) ==
        std::vector<std::string>{"a_velocity_0", "b_velocity_0", "c_velocity_0"});
}

TEST_CASE("a learning rate that the program computes") {
  compare<optimizer::sgd>();
  compare<optimizer::adam>();
}
