// SPDX-License-Identifier: Apache-2.0
// A training loop that is a program: what it reads, and that it trains as one outside does.
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "executor/shared_executor.hpp"
#include "train/interpreted_training.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>
#include <lamina/model/check_nan.hpp>
#include <lamina/train/run.hpp>

namespace layer = lamina::layer;

using integer = std::int64_t;

namespace {

constexpr lamina::optimizer::momentum momentum{
    .learning_rate = 0.1f, .momentum = 0.9f, .regularization = lamina::l2_decay(1e-3f)};

/// A recurrent net over the rows of an image.
template <class X, class Y>
constexpr auto cost_of(X image, Y label) {
  auto rows = layer::reshape<4, 4>(image);
  auto h = layer::static_rnn(rows, [&](auto& step) {
    auto before = step.memory(lamina::dims<6>);
    auto next = layer::tanh(layer::fc<6>(std::tuple{step.input(rows), before}));
    step.update(before, next);
    return next;
  });
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<3>(layer::reshape<24>(h)), label));
}

template <class Opt, const Opt& optimizer>
constexpr auto training = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto last = layer::fill_constant<float>(main, 0);
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [image, label] =
        layer::read_minibatch<"train", lamina::field<float, 16>, lamina::field<integer>>(loop,
                                                                                         more);
    auto cost = cost_of(image, label);
    optimizer.minimize(cost);
    last = cost;
  });
  return last;
});

constexpr auto inside = training<lamina::optimizer::momentum, momentum>;

constexpr auto outside = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 16>(main);
  auto label = layer::data<"label", integer>(main);
  return cost_of(image, label);
});

using inside_type = std::remove_const_t<decltype(inside)>;

using outside_type = std::remove_const_t<decltype(outside)>;

using sample = std::tuple<std::vector<float>, integer>;

using minibatch = std::vector<sample>;

/// Mini-batches of different sizes.
std::vector<minibatch> some_minibatches(int count) {
  std::vector<minibatch> all;
  for (int b = 0; b < count; ++b) {
    all.emplace_back();
    for (int i = 0; i < 5 + b % 3; ++i) {
      std::vector<float> x(16);
      for (int k = 0; k < 16; ++k)
        x[static_cast<std::size_t>(k)] = static_cast<float>((k * 7 + i * 13 + b * 29) % 17) / 17;
      all.back().push_back({x, (i + b) % 3});
    }
  }
  return all;
}

}  // namespace

TEST_CASE("a training loop inside of a program gives the parameters of one outside") {
  const auto batches = some_minibatches(8);
  lamina::model in{inside};
  lamina::model out{outside};
  const lamina::run_summary found = lamina::run(in, batches);
  CHECK(found.minibatches == 8);
  CHECK(found.samples == 5 + 6 + 7 + 5 + 6 + 7 + 5 + 6);

  lamina::cpu_trainer<outside_type, lamina::optimizer::momentum> trainer(momentum, out);
  lamina::feeder<outside_type> feeder;
  float last = 0;
  for (const minibatch& b : batches) {
    feeder.fill(b);
    last = trainer.step(feeder.view());
  }
  CHECK(found.cost == last);
  const auto all = lamina::parameters_in<inside_type>();
  REQUIRE(lamina::counts_of<inside_type>.parameters == lamina::counts_of<outside_type>.parameters);
  for (int i = 0; i < lamina::counts_of<inside_type>.parameters; ++i)
    for (std::size_t k = 0; k < all.floats(i); ++k)
      if (in.memory()[i][k] != out.memory()[i][k]) {
        CHECK(in.memory()[i][k] == out.memory()[i][k]);
        break;
      }
}

TEST_CASE("the interpreter runs a training loop that is a program") {
  const auto batches = some_minibatches(5);
  lamina::model trained{inside};
  lamina::basic_executor<double> executor;
  lamina::scope scope;
  interpreted::start(executor, scope, inside, trained);
  std::size_t next = 0;
  const lamina::run_options options = interpreted::reading(batches, 16, next);
  const auto cost = executor.run(inside.view(), scope, {}, options)[0].as<double>().flat(0);
  CHECK(next == 5);
  CHECK(lamina::run(trained, batches).cost == Approx(cost).epsilon(1e-5));
  for (int i = 0; i < lamina::counts_of<inside_type>.parameters; ++i) {
    const std::string name =
        lamina::variable_name(inside.view(), inside.view().parameters[i].variable);
    INFO(name);
    const auto exact = scope.get(name).cast<double>();
    const auto found = trained.get(i);
    REQUIRE(found.size() == exact.size());
    for (std::size_t k = 0; k < found.size(); ++k)
      CHECK(static_cast<double>(found.flat(k)) == Approx(exact.flat(k)).margin(1e-5));
  }
  lamina::scope other;
  executor.run_startup(inside.view(), other);
  CHECK_THROWS_WITH(executor.run(inside.view(), other, {}),
                    Catch::Contains("read_minibatch") && Catch::Contains("next_minibatch"));
}

TEST_CASE("epochs of a loop are passes of the reader, and an empty reader is an error") {
  constexpr auto epochs = lamina::program([](lamina::block& main) {
    auto i = layer::fill_constant<integer>(main, 0), n = layer::fill_constant<integer>(main, 3);
    auto sum = layer::fill_constant<float>(main, 0);
    auto going = layer::less_than(i, n);
    layer::while_loop(going, [&](lamina::block& pass) {
      auto more = layer::fill_constant<bool>(pass, true);
      layer::while_loop(more, [&](lamina::block& loop) {
        auto [x] = layer::read_minibatch<"numbers", lamina::field<float>>(loop, more);
        sum = sum + layer::reduce_sum(x);
      });
      layer::increment(i);
      layer::less_than(i, n, going);
    });
    return sum;
  });
  lamina::model none{epochs};
  std::vector<std::uint64_t> passes;
  const auto numbers = [&passes](std::uint64_t pass) {
    passes.push_back(pass);
    const float first = static_cast<float>(pass) * 100;
    return std::vector<std::vector<std::tuple<float>>>{{{first + 1}, {first + 2}}, {{first + 3}}};
  };
  const auto found = lamina::run(none, numbers);
  CHECK(found.cost == 3 * 6 + 3 * 100 + 3 * 200);
  CHECK(found.minibatches == 6);
  CHECK(passes == std::vector<std::uint64_t>{0, 1, 2});
  CHECK_THROWS_WITH(lamina::run(none, std::vector<std::vector<std::tuple<float>>>{}),
                    Catch::Contains("expected at least one mini-batch in pass 0"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::vector<std::tuple<float>>> with_nan{{{1}, {2}}, {{3}, {nan}}};
  CHECK(std::isnan(lamina::run(none, with_nan).cost));
  CHECK_THROWS_WITH(lamina::run(none, with_nan, {.check_nan = true}),
                    Catch::Contains("data layer") && Catch::Contains("found NaN in row 1") &&
                        Catch::Contains("(mini-batch 1, sample 3)"));
}

TEST_CASE("a loop that does not end says which") {
  constexpr auto endless = lamina::program([](lamina::block& main) {
    auto always = layer::fill_constant<bool>(main, true);
    auto i = layer::fill_constant<integer>(main, 0), none = i;
    layer::while_loop(always, [&](lamina::block&) {
      layer::increment(i);
      layer::greater_than(i, none, always);
    });
    return i;
  });
  using program = std::remove_const_t<decltype(endless)>;
  lamina::engine::cpu::machine<program> machine{lamina::external_buffers{}};
  machine.limit_iterations(50);
  CHECK_THROWS_WITH(machine.run(~0ull, 0, 0),
                    "lamina: while: expected the condition "
                    "'while_0.tmp_1' to be false after 50 "
                    "iterations, found true");
  // The binary holds all names once.
  STATIC_REQUIRE(lamina::call_program<program>::collected.count.names == 0);
  STATIC_REQUIRE(lamina::call_program<program>::view.names ==
                 lamina::run_time_program<program>::view.names);
}
