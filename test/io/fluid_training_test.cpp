// SPDX-License-Identifier: Apache-2.0
// Training programs in Fluid's form: what they do is what a training loop does.
#include <catch2/catch.hpp>
#include <executor/shared_executor.hpp>

#include <lamina/io/fluid_training.hpp>
#include <lamina/io/loaded_program.hpp>
#include <lamina/io/program_desc_proto.hpp>
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;
using Catch::Contains;
using lamina::loaded_program;
using lamina::tensor;

namespace {

// A weight with a factor, a clip and a decay of its own, and a bias without.
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  auto y = layer::data<"y", float, 1>(main);
  auto h = layer::fc<3>(x, {.act = lamina::activation::tanh});
  auto found = layer::fc<1>(h, {.param = {.learning_rate = 0.5f,
                                          .regularizer = lamina::l1_decay(0.01f),
                                          .gradient_clip = lamina::clip_by_value(0.2f)}});
  return layer::mean(layer::square_error_cost(found, y));
});
using sample = std::tuple<std::vector<float>, std::vector<float>>;
const std::vector<sample> minibatch{
    {{1, 2}, {3}}, {{-1, 0.5f}, {-2}}, {{0.25f, -1}, {1}}, {{2, 2}, {0.5f}}};

std::string name_of_parameter(int i) {
  return lamina::variable_name(net.view(), net.view().parameters[i].variable);
}

/// Three steps here, and three of the program that was written and read.
template <class Opt>
void check(const Opt& opt) {
  INFO(Opt::type);
  const auto messages = lamina::training_messages_of(net, opt);
  const loaded_program startup(lamina::from_proto(lamina::to_proto(messages.startup)), "startup");
  const loaded_program main(lamina::from_proto(lamina::to_proto(messages.main)), "main");
  lamina::executor executor;
  lamina::scope scope;
  executor.run(startup, scope, {}, std::vector<std::string>{});

  lamina::model model{net, 3};
  for (int i = 0; i < 4; ++i) scope.var(name_of_parameter(i)) = tensor(model.get(i));
  opt.train(model, std::vector<std::vector<sample>>(3, minibatch), {.passes = 1});

  std::vector<float> x, y;
  for (const auto& [a, b] : minibatch) {
    x.insert(x.end(), a.begin(), a.end());
    y.insert(y.end(), b.begin(), b.end());
  }
  for (int step = 0; step < 3; ++step)
    executor.run(main, scope, {{"x", tensor({4, 2}, x)}, {"y", tensor({4, 1}, y)}},
                 std::vector<std::string>{});
  for (int i = 0; i < 4; ++i) {
    const std::string name = name_of_parameter(i);
    INFO(name);
    const auto& there = scope.get(name).template as<float>();
    const auto here = model.get(i);
    REQUIRE(there.size() == here.size());
    for (std::size_t k = 0; k < here.size(); ++k)
      CHECK(there.flat(k) == Approx(here.flat(k)).epsilon(2e-5).margin(1e-6));
  }
}

}  // namespace

TEST_CASE("fluid training: every optimizer") {
  check(optimizer::sgd{.learning_rate = 0.1f});
  check(optimizer::momentum{.learning_rate = 0.1f, .use_nesterov = true});
  check(optimizer::lars_momentum{.learning_rate = 0.1f});
  check(optimizer::adagrad{.learning_rate = 0.1f, .initial_accumulator_value = 0.5f});
  check(optimizer::decayed_adagrad{.learning_rate = 0.1f});
  check(optimizer::adam{.learning_rate = 0.1f});
  check(optimizer::adamax{.learning_rate = 0.1f});
  check(optimizer::adadelta{});
  check(optimizer::rmsprop{.learning_rate = 0.1f, .momentum = 0.5f, .centered = true});
  check(optimizer::ftrl{.learning_rate = 0.1f, .l1 = 0.1f, .l2 = 0.1f});
  check(optimizer::lamb{.learning_rate = 0.1f});
  check(optimizer::proximal_gd{.learning_rate = 0.1f, .l1 = 0.1f, .l2 = 0.1f});
  check(optimizer::proximal_adagrad{.learning_rate = 0.1f, .l1 = 0.1f, .l2 = 0.1f});
}

TEST_CASE("fluid training: clips and decay are operators before the update") {
  check(optimizer::sgd{.learning_rate = 0.1f,
                       .regularization = lamina::l2_decay(0.1f),
                       .clip = lamina::clip_by_norm(0.3f)});
  check(optimizer::sgd{.learning_rate = 0.1f, .clip = lamina::clip_by_global_norm(0.3f)});
  const auto messages = lamina::training_messages_of(
      net, optimizer::sgd{.learning_rate = 0.1f, .regularization = lamina::l2_decay(0.1f)});
  std::string order;
  for (const lamina::operator_message& op : messages.main.blocks.at(0).operators)
    if (const auto* role = op.attribute("op_role"); role != nullptr && role->integer == 2)
      order += op.type + ' ';
  CHECK(order == "scale sum scale sum clip sign scale sum scale sum sgd sgd scale sgd sgd ");
}

TEST_CASE("fluid training: schedules are operators that count the steps") {
  namespace schedule = lamina::schedule;
  const optimizer::learning_rate rates[] = {
      schedule::noam_decay{.d_model = 16, .warmup_steps = 2, .learning_rate = 0.5f},
      schedule::exponential_decay{.learning_rate = 0.1f, .decay_steps = 2, .decay_rate = 0.3f},
      schedule::exponential_decay{0.1f, 2, 0.3f, true},
      schedule::natural_exp_decay{0.1f, 2, 0.7f, true},
      schedule::inverse_time_decay{.learning_rate = 0.1f, .decay_steps = 2, .decay_rate = 3},
      schedule::polynomial_decay{0.1f, 2, 0.01f, 2},
      schedule::polynomial_decay{0.1f, 2, 0.01f, 1.5f, true},
      schedule::piecewise_decay({1, 2}, {0.1f, 0.02f, 1e-7f}),
      schedule::piecewise_decay({2}, {0.1f, 0.5f}),
      schedule::cosine_decay{.learning_rate = 0.1f, .step_each_epoch = 2, .epochs = 3},
      schedule::linear_lr_warmup{schedule::exponential_decay{0.1f, 2, 0.3f}, 2, 0, 0.2f},
      schedule::linear_lr_warmup{0.1f, 3, 0.01f, 0.2f}};
  for (const optimizer::learning_rate& rate : rates) {
    INFO("schedule " << static_cast<int>(rate.kind) << ", warm-up " << rate.warmup_steps);
    check(optimizer::sgd{.learning_rate = rate});
  }
  check(optimizer::adam{.learning_rate = rates[1]});
}

TEST_CASE("fluid training: what Fluid's form cannot say is an error") {
  CHECK_THROWS_WITH(
      lamina::training_messages_of(
          net, optimizer::sgd{.learning_rate = lamina::schedule::v2::linear{0.1f, 1, 0.01f, 8}}),
      Contains("Fluid has no operators for the learning-rate schedules of v2"));
  CHECK_THROWS_WITH(lamina::training_messages_of(
                        net, optimizer::sgd{.learning_rate = lamina::schedule::one_cycle{0.1f, 8}}),
                    Contains("Fluid has no operators for the learning-rate schedule one_cycle"));
  CHECK_THROWS_WITH(lamina::training_messages_of(net, optimizer::adamw{}),
                    "lamina: Fluid has no update operator of type adamw");
}

TEST_CASE("fluid training: a program that trains itself keeps lamina's form, and is read so") {
  // Its update reads the learning rate from a variable too.
  static constexpr optimizer::adam adam{.learning_rate = 0.1f};
  constexpr auto own = lamina::program([](lamina::block& main) {
    auto cost = layer::mean(layer::square(layer::fc<1>(layer::data<"x", float, 2>(main))));
    adam.minimize(cost);
    return cost;
  });
  const loaded_program again(lamina::from_proto(lamina::to_proto(own)), "own");
  lamina::executor executor;
  lamina::scope here, there;
  for (lamina::scope* s : {&here, &there}) executor.run_startup(own.view(), *s, 3);
  const lamina::feed_map feed{{"x", tensor({2, 2}, std::vector<float>{1, 2, -1, 0.5f})}};
  for (int step = 0; step < 2; ++step) {
    executor.run(own.view(), here, feed, {"fc_0.w_0"});
    executor.run(again, there, feed, std::vector<std::string>{});
  }
  CHECK((here.get("fc_0.w_0").as<float>() == there.get("fc_0.w_0").as<float>()));
  CHECK(here.get("fc_0.w_0").as<float>().flat(0) != 0);
}
