// SPDX-License-Identifier: Apache-2.0
// Training loops as programs, which read mini-batches by themselves, come back from files.
#include <catch2/catch.hpp>
#include <codegen/imported/trained_game.imported>
#include <codegen/imported/trained_loop.imported>
#include <codegen/imported/trained_switch.imported>
#include <codegen/imported_training.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/minimize.hpp>
#include <lamina/optimizer/optimizers.hpp>

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;
using imported_program::random_tensor;
using imported_training::saved;
using imported_training::text_of;
using integer = std::int64_t;

namespace {

namespace recorded {

// Passes over mini-batches; the steps of the net are a loop of their own.
constexpr auto training = lamina::program([](lamina::block& main) {
  auto pass = layer::fill_constant<integer>(main, 0),
       passes = layer::fill_constant<integer>(main, 2);
  auto cost_of_pass = layer::fill_constant<float>(main, 0);
  auto going = layer::less_than(pass, passes);
  layer::while_loop(going, [&](lamina::block& body) {
    auto more = layer::fill_constant<bool>(body, true);
    auto sum = layer::fill_constant<float>(body, 0), batches = layer::fill_constant<float>(body, 0);
    layer::while_loop(more, [&](lamina::block& loop) {
      auto [image, label] =
          layer::read_minibatch<"train", lamina::field<float, 6>, lamina::field<integer>>(loop,
                                                                                          more);
      auto lines = layer::reshape<3, 2>(image);
      auto states = layer::static_rnn(lines, [&](auto& step) {
        auto before = step.memory(lamina::dims<4>);
        auto next = layer::tanh(layer::fc<4>(std::tuple{step.input(lines), before}));
        step.update(before, next);
        return next;
      });
      auto scores = layer::fc<3>(layer::reshape<12>(states));
      auto cost = layer::mean(layer::softmax_with_cross_entropy(scores, label));
      optimizer::momentum{.learning_rate = 0.05f, .momentum = 0.8f}.minimize(cost);
      sum = sum + cost;
      layer::increment(batches);
    });
    cost_of_pass = sum / batches;
    layer::increment(pass);
    layer::less_than(pass, passes, going);
  });
  return cost_of_pass;
});

// Two costs and two calls of minimize, of which each updates one net.
template <class Point>
constexpr auto verdict_on(const Point& point) {
  auto h = layer::fc<6>(point, {.act = lamina::activation::tanh,
                                .param = {.name = "judge_0.w"},
                                .bias_param = {.name = "judge_0.b"}});
  return layer::fc<1>(h, {.param = {.name = "judge_1.w"}, .bias_param = {.name = "judge_1.b"}});
}
constexpr auto game = lamina::program([](lamina::block& main) {
  constexpr optimizer::adam judging{
      .learning_rate = lamina::schedule::polynomial_decay{5e-3f, 100, 5e-5f}, .beta1 = 0.5f};
  auto more = layer::fill_constant<bool>(main, true);
  auto last = layer::fill_constant<float>(main, 0);
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [real, noise] =
        layer::read_minibatch<"train", lamina::field<float, 2>, lamina::field<float, 2>>(loop,
                                                                                         more);
    auto forged = layer::fc<2>(layer::fc<5>(noise, {.act = lamina::activation::tanh}));
    auto judged = layer::mean(layer::softplus(-verdict_on(real))) +
                  layer::mean(layer::softplus(verdict_on(forged)));
    judging.minimize(judged, lamina::prefix<"judge_">);
    auto passed = layer::mean(layer::softplus(-verdict_on(forged)));
    optimizer::adam{.learning_rate = 2e-3f}.minimize(passed, lamina::except<"judge_0", "judge_1">);
    last = judged;
  });
  return last;
});

// A branch chooses the rate of each step; the count of steps stays in the model.
constexpr auto switched = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto last = layer::fill_constant<float>(main, 0);
  auto steps = layer::create_global_var<float>(main, 0, {.name = "steps"});
  auto used = layer::create_global_var<float>(main, 0, {.name = "rate"});
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [x, y] =
        layer::read_minibatch<"train", lamina::field<float, 2>, lamina::field<float>>(loop, more);
    auto cost = layer::mean(layer::square_error_cost(layer::fc<1>(x, {.name = "line"}), y));
    auto early = layer::less_than(steps, layer::fill_constant<float>(loop, 2));
    auto rate = layer::fill_constant<float>(loop, 0);
    layer::switch_case(early, [&](lamina::block&) {
      rate = 0.02f * (steps + 1.0f);
    }).otherwise([&](lamina::block& body) { rate = layer::fill_constant<float>(body, 0.2f); });
    optimizer::sgd{.learning_rate = rate}.minimize(cost);
    layer::store(rate, used);
    layer::store(steps + 1.0f, steps);
    last = cost;
  });
  return last;
});

}  // namespace recorded

/// Four mini-batches a pass.
imported_training::run_input reads(const lamina::tensor& first, const lamina::tensor& second) {
  imported_training::run_input input;
  input.options = [first, second] {
    lamina::run_options options;
    options.next_minibatch = [first, second, n = 0](lamina::feed_map& feed) mutable {
      feed["train_0"] = first;
      feed["train_1"] = second;
      return ++n % 4 != 0;
    };
    return options;
  };
  input.steps = 1;
  return input;
}

}  // namespace

TEST_CASE("native minimize: loops that train come back, with the same steps") {
  const lamina::tensor labels({5, 1}, std::vector<integer>{0, 2, 1, 1, 0});
  imported_training::compare("trained_loop", recorded::training, trained_loop,
                             reads(random_tensor({5, 6}), labels));
  imported_training::compare("trained_game", recorded::game, trained_game,
                             reads(random_tensor({5, 2}), random_tensor({5, 2})));
  imported_training::compare("trained_switch", recorded::switched, trained_switch,
                             reads(random_tensor({5, 2}), random_tensor({5, 1})));
}

// ./test "native minimize: write the headers of loops" after a change of the text.
TEST_CASE("native minimize: write the headers of loops", "[.]") {
  const auto write = [](const std::string& name, const lamina::program_view& p) {
    lamina::write_file(imported_program::path_of(name), text_of(saved(p), name));
  };
  write("trained_loop", recorded::training.view());
  write("trained_game", recorded::game.view());
  write("trained_switch", recorded::switched.view());
}
