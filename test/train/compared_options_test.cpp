// SPDX-License-Identifier: Apache-2.0
// A process that trains with other options than the others is an error in all of them, which names
// the option and both values: before the first step, or in the step in which it changes them.
// Sources: karpathy/nanochat#857, rwth-i6/returnn#1493, Lightning-AI/pytorch-lightning#10947.
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>
#include <lamina/model/check_nan.hpp>
#include <lamina/train/compared_options.hpp>

namespace {

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;
namespace schedule = lamina::schedule;
using Catch::Contains;

template <int Which>
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  auto y = layer::data<"y", float>(main);
  lamina::param_attr w{.name = "w"};
  if (Which == 1) w.learning_rate = 2;
  if (Which == 2) w.regularizer = lamina::l1_decay(0.5f);
  if (Which == 3) w.gradient_clip = lamina::clip_by_value(0.5f);
  if (Which == 4) w.trainable = false;
  return layer::mean(layer::square_error_cost(layer::fc<1>(x, {.param = w}), y));
});

auto samples() {
  std::vector<std::tuple<std::array<float, 2>, float>> all;
  for (int i = 0; i < 12; ++i)
    all.push_back({{1, static_cast<float>(i) / 12}, static_cast<float>(i % 5)});
  return all;
}

using options = lamina::train_options;
using session_options = lamina::distributed::session_options;

/// The errors of three processes, of which one differs.
template <class Opt>
std::map<int, std::string> errors_with(const Opt& usual, const std::function<void(Opt&)>& change,
                                       const std::function<void(options&)>& choose = {},
                                       const session_options& how = {}, int at_step = 0,
                                       int different_rank = 1) {
  return test::errors_of(
      3,
      [&](test::thread_group& w) {
        lamina::model m{net<0>};
        Opt mine = usual;
        options given{.passes = 2, .world = &w};
        const bool differs = w.rank() == different_rank;
        if (differs && choose) choose(given);
        int steps = 0;
        if (at_step > 0)
          given.on_event = [&](const lamina::event& e) {
            if (e.kind == lamina::event_kind::end_iteration && ++steps == at_step && differs)
              change(mine);
          };
        else if (differs && change)
          change(mine);
        mine.train(m, samples() | lamina::reader::batch(4), given);
      },
      how);
}
void check_all(const std::map<int, std::string>& found, const std::string& first,
               const std::string& second) {
  INFO(first << " and " << second);
  CHECK(found.size() == 3);
  for (const auto& [rank, why] : found) {
    CHECK_THAT(why, Contains("expected the same"));
    CHECK_THAT(why, Contains(first) && Contains(second));
  }
}

template <class Opt>
struct change {
  std::function<void(Opt&)> make;
  std::string first, second;  // what the error names
};
template <class Opt>
void check_changes(const Opt& usual, const std::vector<change<Opt>>& all) {
  const session_options modes[] = {
      {}, {.parameter_servers = 1}, {.parameter_servers = 1, .staleness = 2}};
  for (const session_options& mode : modes) CHECK(errors_with<Opt>(usual, {}, {}, mode).empty());
  for (const change<Opt>& c : all) {
    // With parameter servers, rank 2 is one.
    for (const session_options& mode : modes)
      for (const int rank : {1, 2})
        check_all(errors_with<Opt>(usual, c.make, {}, mode, 0, rank), c.first, c.second);
    // A clip by norm must be there from the start, which is an error of its own.
    if (c.second.find("norm") == std::string::npos)
      check_all(errors_with<Opt>(usual, c.make, {}, {}, 3), c.first, c.second);
  }
}

}  // namespace

TEST_CASE("each option of an optimizer that one process changes is named", "[threads]") {
  using adam = optimizer::adam;
  check_changes<adam>(
      {.learning_rate = 0.125f},
      {{[](adam& a) { a.learning_rate = 0.25f; }, "learning_rate = 0.125", "learning_rate = 0.25"},
       {[](adam& a) { a.learning_rate.factor = 0.5f; }, "learning_rate.factor = 1",
        "learning_rate.factor = 0.5"},
       {[](adam& a) { a.beta1 = 0.5f; }, "beta1 = 0.899999976", "beta1 = 0.5"},
       {[](adam& a) { a.beta2 = 0.5f; }, "beta2 = 0.999000013", "beta2 = 0.5"},
       {[](adam& a) { a.epsilon = 0.5f; }, "epsilon = 9.99999994e-09", "epsilon = 0.5"},
       {[](adam& a) { a.lazy_mode = true; }, "lazy_mode = 0", "lazy_mode = 1"},
       {[](adam& a) { a.regularization = lamina::l2_decay(0.5f); }, "regularization = none",
        "regularization = l2_decay(0.5)"},
       {[](adam& a) { a.clip = lamina::clip_by_value(0.5f); }, "clip = none",
        "clip = clip_by_value(-0.5, 0.5)"},
       {[](adam& a) { a.clip = lamina::clip_by_norm(0.5f); }, "clip = none",
        "clip = clip_by_norm(0.5)"},
       {[](adam& a) { a.clip = lamina::clip_by_global_norm(0.5f); }, "clip = none",
        "clip = clip_by_global_norm(0.5)"},
       {[](adam& a) {
          a.learning_rate = schedule::exponential_decay{
              .learning_rate = 0.125f, .decay_steps = 2, .decay_rate = 0.5f};
        },
        "learning_rate = 0.125",
        "learning_rate = exponential_decay of 0.125, decay_rate 0.5, decay_steps 2, staircase 0"}});
  using adagrad = optimizer::adagrad;  // begins with another state
  check_changes<adagrad>({.learning_rate = 0.125f},
                         {{[](adagrad& a) { a.epsilon = 0.5f; }, "epsilon = ", "epsilon = 0.5"}});
  check_all(errors_with<adagrad>({.learning_rate = 0.125f},
                                 [](adagrad& a) { a.initial_accumulator_value = 2; }),
            "initial state 0 = 0 in rank 0", "initial state 0 = 2 in rank 1");
}

TEST_CASE("a custom schedule that differs later is an error in that step", "[threads]") {
  const auto found = errors_with<optimizer::sgd>(
      {.learning_rate = schedule::custom{[](std::int64_t) { return 0.125; }}},
      [](optimizer::sgd& s) {
        s.learning_rate = schedule::custom{[](std::int64_t n) { return n == 4 ? 0.25 : 0.125; }};
      });
  check_all(found, "rate of the update in step 4 = 0.125 in rank 0",
            "rate of the update in step 4 = 0.25 in rank 1");
}

TEST_CASE("each option of a training that one process changes is named", "[threads]") {
  const std::vector<std::tuple<std::function<void(options&)>, std::string>> all{
      {[](options& o) { o.passes = 3; }, "passes"},
      {[](options& o) { o.threads = 2; }, "number of threads"},
      {[](options& o) { o.accumulate = 2; }, "accumulate"},
      {[](options& o) { o.seed = 9; }, "seed"},
      {[](options& o) { o.check_nan = true; }, "check_nan"},
      {[](options& o) { o.reads_shard = true; }, "reads_shard"}};
  for (const auto& [choose, name] : all) {
    const auto found = errors_with<optimizer::sgd>({.learning_rate = 0.125f}, {}, choose);
    check_all(found, name, "in rank 1");
  }
}

TEST_CASE("options of parameters are compared", "[threads]") {
  const auto train = [](auto& m, test::thread_group& w) {
    optimizer::sgd{.learning_rate = 0.125f}.train(m, samples() | lamina::reader::batch(4),
                                                  {.world = &w});
  };
  const auto errors = [&](const auto& other) {
    return test::errors_of(2, [&](test::thread_group& w) {
      if (w.rank() == 0) {
        lamina::model m{net<0>};
        train(m, w);
      } else {
        lamina::model m{other};
        train(m, w);
      }
    });
  };
  const std::string usual =
      "parameter w = float32 [2, 1], learning_rate 1, regularizer none, "
      "gradient_clip none in rank 0";
  const auto check = [&](const std::map<int, std::string>& found, const std::string& other) {
    INFO(other);
    CHECK(found.size() == 2);
    for (const auto& [rank, why] : found)
      CHECK_THAT(why, Contains(usual) && Contains(other + " in rank 1"));
  };
  check(errors(net<1>), "learning_rate 2, regularizer none, gradient_clip none");
  check(errors(net<2>), "regularizer l1_decay(0.5), gradient_clip none");
  check(errors(net<3>), "gradient_clip clip_by_value(-0.5, 0.5)");
}
