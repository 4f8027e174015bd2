// SPDX-License-Identifier: Apache-2.0
// Optimizers inside of a program: each trains as it does in a loop outside, and as the interpreter
// does.
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
#include <lamina/optimizer/minimize.hpp>

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;
namespace schedule = lamina::schedule;

using integer = std::int64_t;

namespace {

/// Own: the parameters of the second layer have a rate and a clip of their own.
template <bool Own, class X, class Y>
constexpr auto cost_of(X x, Y label) {
  auto hidden = layer::fc<7>(x, {.act = lamina::activation::tanh});
  lamina::param_attr second{};
  if (Own) second.learning_rate = 0.5f, second.gradient_clip = lamina::clip_by_norm(0.05f);
  auto logits = layer::fc<3>(hidden, {.param = second});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
}

template <bool Own, const auto& Opt>
constexpr auto inside = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto last = layer::fill_constant<float>(main, 0);
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [x, label] =
        layer::read_minibatch<"train", lamina::field<float, 5>, lamina::field<integer>>(loop, more);
    auto cost = cost_of<Own>(x, label);
    Opt.minimize(cost);
    last = cost;
  });
  return last;
});

template <bool Own>
constexpr auto outside = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 5>(main);
  auto label = layer::data<"label", integer>(main);
  return cost_of<Own>(x, label);
});

using sample = std::tuple<std::vector<float>, integer>;

using minibatch = std::vector<sample>;

std::vector<minibatch> some_minibatches() {
  std::vector<minibatch> all;
  for (int b = 0; b < 6; ++b) {
    all.emplace_back();
    for (int i = 0; i < 3 + b % 3; ++i) {
      std::vector<float> x(5);
      for (int k = 0; k < 5; ++k)
        x[static_cast<std::size_t>(k)] =
            static_cast<float>((k * 7 + i * 13 + b * 29) % 17) / 8 - 1.0f;
      all.back().push_back({x, (i + b) % 3});
    }
  }
  return all;
}

constexpr optimizer::sgd scheduled_sgd{
    .learning_rate = schedule::linear_lr_warmup{
        .learning_rate = schedule::piecewise_decay({3, 5}, {0.5f, 0.25f, 0.125f}),
        .warmup_steps = 2,
        .start_lr = 0.01f,
        .end_lr = 0.4f}};

constexpr optimizer::momentum noam_momentum{
    .learning_rate = schedule::noam_decay{.d_model = 16, .warmup_steps = 3, .learning_rate = 0.7f},
    .momentum = 0.9f,
    .regularization = lamina::l2_decay(1e-2f)};

constexpr optimizer::adam cosine_adam{
    .learning_rate =
        schedule::cosine_decay{.learning_rate = 0.05f, .step_each_epoch = 2, .epochs = 4},
    .regularization = lamina::l1_decay(1e-3f),
    .clip = lamina::clip_by_value(0.02f)};

constexpr optimizer::adamax adamax{.learning_rate = 0.02f};

constexpr optimizer::lamb lamb{.learning_rate = schedule::exponential_decay{
                                   .learning_rate = 0.1f, .decay_steps = 2, .decay_rate = 0.5f}};

constexpr optimizer::adagrad adagrad{.learning_rate = 0.1f, .initial_accumulator_value = 0.25f};

constexpr optimizer::rmsprop limited_rmsprop{.learning_rate = 0.02f,
                                             .clip = lamina::clip_by_global_norm(0.1f)};

constexpr optimizer::adam limited_adam{.learning_rate = 0.05f,
                                       .clip = lamina::clip_by_global_norm(0.2f)};

/// The interpreter, from parameters `first`, trains as the compiled loop has trained `in`.
template <class P>
void check_interpreted(const P& program, const lamina::model<P>& first, const lamina::model<P>& in,
                       const std::vector<minibatch>& batches) {
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  const auto view = program.view();
  interpreted::start(executor, scope, program, first);
  std::size_t next = 0;
  executor.run(view, scope, {}, interpreted::reading(batches, 5, next));
  for (int i = 0; i < lamina::counts_of<P>.parameters; ++i) {
    const std::string name = lamina::variable_name(view, view.parameters[i].variable);
    INFO(name);
    const auto a = in.get(i), begin = first.get(i);
    const auto interpreted = scope.get(name).template cast<double>();
    double moved = 0, off = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
      moved = std::max(moved, std::abs(static_cast<double>(a.flat(k) - begin.flat(k))));
      off = std::max(off, std::abs(static_cast<double>(a.flat(k)) - interpreted.flat(k)));
    }
    CHECK(moved > 1e-3);
    CHECK(off < 2e-6);
  }
}

/// Both loops, and the interpreter, from the same parameters. Those outside are met bit for bit;
/// where a norm is limited, compilers may round two loops differently in the last place.
template <bool Own, const auto& Opt>
void compare() {
  constexpr bool limited = Own || Opt.clip.kind == lamina::clip_kind::global_norm;
  using inside_type = std::remove_const_t<decltype(inside<Own, Opt>)>;
  using outside_type = std::remove_const_t<decltype(outside<Own>)>;
  const auto batches = some_minibatches();
  lamina::model in{inside<Own, Opt>};
  lamina::model out{outside<Own>};
  const lamina::model first{inside<Own, Opt>};
  const float found = lamina::run(in, batches).cost;

  lamina::cpu_trainer<outside_type, std::remove_cvref_t<decltype(Opt)>> trainer(Opt, out);
  lamina::feeder<outside_type> feeder;
  float last = 0;
  for (const minibatch& b : batches) {
    feeder.fill(b);
    last = trainer.step(feeder.view());
  }
  CHECK(std::abs(found - last) <= (limited ? 2e-7f : 0));

  check_interpreted(inside<Own, Opt>, first, in, batches);
  REQUIRE(lamina::counts_of<inside_type>.parameters == lamina::counts_of<outside_type>.parameters);
  for (int i = 0; i < lamina::counts_of<inside_type>.parameters; ++i) {
    INFO(lamina::variable_name(inside<Own, Opt>.view(), inside_type::desc.parameters[i].variable));
    const auto a = in.get(i), b = out.get(i);
    double apart = 0;
    for (std::size_t k = 0; k < a.size(); ++k)
      apart = std::max(apart, std::abs(static_cast<double>(a.flat(k) - b.flat(k))));
    CHECK(apart <= (limited ? 2e-7 : 0));
  }
}

/// Two costs of each mini-batch, each with an optimizer of its own, over layers that both costs
/// have or of which each has its own.
template <bool Shared, const auto& First, const auto& Second>
constexpr auto two_costs = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto last = layer::fill_constant<float>(main, 0);
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [x, label] =
        layer::read_minibatch<"train", lamina::field<float, 5>, lamina::field<integer>>(loop, more);
    auto hidden = layer::fc<7>(x, {.act = lamina::activation::tanh, .name = "a"});
    auto classes = layer::fc<3>(hidden, {.name = "b"});
    auto cost = layer::mean(layer::softmax_with_cross_entropy(classes, label));
    First.minimize(cost);
    auto other = Shared ? hidden : layer::fc<7>(x, {.act = lamina::activation::tanh, .name = "c"});
    auto size = layer::mean(layer::square(layer::fc<2>(other, {.name = "d"})));
    Second.minimize(size);
    last = cost + size;
  });
  return last;
});

/// States of a recurrence over the elements of x, each of which a loop inside of a step computes.
template <class X>
constexpr auto states_of(lamina::block& loop, X x) {
  auto steps = layer::reshape<5, 1>(x);
  auto states = layer::static_rnn(steps, [&](auto& step) {
    auto before = step.memory(lamina::dims<6>);
    auto zero = layer::fill_constant<integer>(loop, 0), i = zero;
    auto two = layer::fill_constant<integer>(loop, 2);
    auto inner = layer::array_write(layer::fc<6>(std::tuple{step.input(steps), before}), zero);
    auto going = layer::less_than(i, two);
    layer::while_loop(going, [&](lamina::block&) {
      auto now = layer::array_read(inner, i);
      layer::increment(i);
      layer::array_write(layer::tanh(layer::fc<6>(now)), i, inner);
      layer::less_than(i, two, going);
    });
    auto next = layer::array_read(inner, two);
    step.update(before, next);
    return next;
  });
  return layer::reshape<30>(states);
}

constexpr optimizer::sgd still{.learning_rate = 0};

constexpr optimizer::momentum moving{.learning_rate = 0.05f};

/// Four recurrences. `Also` takes gradients of the first, whose iterations lie in memory below
/// those of the second, and of the second, for another cost; but its optimizer changes nothing.
template <bool Also>
constexpr auto recurrences = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto last = layer::fill_constant<float>(main, 0);
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [x, label] =
        layer::read_minibatch<"train", lamina::field<float, 5>, lamina::field<integer>>(loop, more);
    const auto size_of = [](auto v) { return layer::mean(layer::square(layer::fc<2>(v))); };
    auto first = size_of(states_of(loop, x));
    auto states = states_of(loop, layer::sin(x));
    auto second = size_of(states);
    if (Also) still.minimize(first), still.minimize(second);
    auto third = size_of(states_of(loop, layer::square(x)));
    auto fourth = size_of(states_of(loop, layer::tanh(x)));
    auto classes = layer::softmax_with_cross_entropy(layer::fc<3>(states), label);
    auto cost = layer::mean(classes) + third + fourth;
    moving.minimize(cost);
    last = cost;
  });
  return last;
});

}  // namespace

TEST_CASE("schedules inside of a program are those outside") {
  compare<false, scheduled_sgd>();
  compare<true, noam_momentum>();
}

TEST_CASE("moments inside of a program are corrected as outside") {
  compare<false, cosine_adam>();
  compare<false, adamax>();
  compare<true, lamb>();
}

TEST_CASE("accumulators inside of a program begin as outside") { compare<false, adagrad>(); }

TEST_CASE("norms of gradients are limited inside of a program as outside") {
  compare<false, limited_rmsprop>();
  compare<true, limited_adam>();
}

TEST_CASE("an optimizer changes what its own cost depends on, not what another's does") {
  // The second cost has no part in the first one's layers.
  constexpr auto& program = two_costs<false, cosine_adam, adagrad>;
  const auto batches = some_minibatches();
  lamina::model in{program};
  const lamina::model first{program};
  lamina::run(in, batches);
  lamina::model out{outside<false>};
  using outside_type = std::remove_const_t<decltype(outside<false>)>;
  for (int i = 0; i < lamina::counts_of<outside_type>.parameters; ++i) out.set(i, first.get(i));
  lamina::cpu_trainer<outside_type, optimizer::adam> trainer(cosine_adam, out);
  lamina::feeder<outside_type> feeder;
  for (const minibatch& b : batches) {
    feeder.fill(b);
    trainer.step(feeder.view());
  }
  for (int i = 0; i < lamina::counts_of<outside_type>.parameters; ++i) {
    INFO(i);
    for (std::size_t k = 0; k < out.get(i).size(); ++k)
      REQUIRE(in.get(i).flat(k) == out.get(i).flat(k));
  }
  check_interpreted(program, first, in, batches);
}

TEST_CASE("two optimizers of one parameter have accumulators of their own, by name too") {
  const auto check = [](const auto& program) {
    const auto batches = some_minibatches();
    lamina::model in{program};
    const lamina::model first{program};
    lamina::run(in, batches);
    check_interpreted(program, first, in, batches);
  };
  check(two_costs<true, adamax, adamax>);
  check(two_costs<true, adagrad, limited_adam>);
}

TEST_CASE("gradients of one loop for several costs, and of several loops in any order") {
  using alone_type = std::remove_const_t<decltype(recurrences<false>)>;
  const auto batches = some_minibatches();
  lamina::model alone{recurrences<false>};
  lamina::model also{recurrences<true>};
  const float cost = lamina::run(alone, batches).cost;
  CHECK(lamina::run(also, batches).cost == cost);
  lamina::basic_executor<double> executor;
  lamina::scope exact, exact_also;
  const auto interpret = [&](const auto& program, lamina::scope& scope) {
    interpreted::start(executor, scope, program, lamina::model{program});
    std::size_t next = 0;
    executor.run(program.view(), scope, {}, interpreted::reading(batches, 5, next));
  };
  interpret(recurrences<false>, exact);
  interpret(recurrences<true>, exact_also);
  for (int i = 0; i < lamina::counts_of<alone_type>.parameters; ++i) {
    const std::string name = alone.describe(i).name;
    INFO(name);
    const auto a = alone.get(i), b = also.get(i);
    const auto c = exact.get(name).cast<double>(), d = exact_also.get(name).cast<double>();
    double off = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
      off = std::max(off, std::abs(static_cast<double>(a.flat(k)) - c.flat(k)));
      REQUIRE(a.flat(k) == b.flat(k));
      REQUIRE(c.flat(k) == d.flat(k));
    }
    CHECK(off < 2e-6);
  }
}
