// SPDX-License-Identifier: Apache-2.0
// Every optimizer, compiled into a training program, against its equation; and whether it learns.
#include "train/optimizer_step.hpp"

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto hidden = layer::fc<17>(x, {.act = lamina::activation::tanh});
  auto logits = layer::fc<3>(hidden, {.name = "output"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

template <class Opt>
void check(const Opt& opt, double factor = 0.5) {
  test::check_steps(net, opt);
  test::check_training(net, opt, factor);
}

// An optimizer of a user's own that gives only `update`, with an accumulator.
struct heavy_sign : optimizer::rule<heavy_sign> {
  optimizer::learning_rate learning_rate = 0.01f;
  static constexpr std::array<const char*, 1> states{"average"};
  template <class T>
  LAMINA_FN static void update(T& param, T grad, T& average, T lr) {
    average = T(0.5f) * average + T(0.5f) * grad;
    param -= lr * average / (lamina::math::abs(average) + T(1e-3f));
  }
};

}  // namespace

TEST_CASE("training with sgd learns", "[threads]") { check(optimizer::sgd{.learning_rate = 0.3f}); }
TEST_CASE("training with momentum learns", "[threads]") {
  check(optimizer::momentum{.learning_rate = 0.05f});
  check(optimizer::momentum{.learning_rate = 0.05f, .use_nesterov = true});
}
TEST_CASE("training with lars_momentum learns", "[threads]") {
  check(optimizer::lars_momentum{.learning_rate = 1.f, .lars_coeff = 0.02f});
}
TEST_CASE("training with adagrad learns", "[threads]") {
  check(optimizer::adagrad{.learning_rate = 0.1f});
}
TEST_CASE("training with decayed_adagrad learns", "[threads]") {
  check(optimizer::decayed_adagrad{.learning_rate = 0.01f, .epsilon = 1e-3f});
}
TEST_CASE("training with adam learns", "[threads]") {
  check(optimizer::adam{.learning_rate = 0.01f});
}
TEST_CASE("training with adamax learns", "[threads]") {
  check(optimizer::adamax{.learning_rate = 0.01f});
}
TEST_CASE("training with adamw learns", "[threads]") {
  check(optimizer::adamw{.learning_rate = 0.01f});
  check(optimizer::adamw{.learning_rate = 0.01f, .weight_decay = 0.5f, .epsilon = 1e-3f}, 0.9);
}
TEST_CASE("training with adadelta learns", "[threads]") {
  check(optimizer::adadelta{.epsilon = 1e-3f});
}
TEST_CASE("training with rmsprop learns", "[threads]") {
  check(optimizer::rmsprop{.learning_rate = 0.005f, .epsilon = 1e-3f});
  check(optimizer::rmsprop{
      .learning_rate = 0.002f, .epsilon = 1e-3f, .momentum = 0.5f, .centered = true});
}
TEST_CASE("training with ftrl learns", "[threads]") {
  check(optimizer::ftrl{.learning_rate = 0.3f}, 0.9);
}
TEST_CASE("training with lamb learns", "[threads]") {
  check(optimizer::lamb{.learning_rate = 0.02f});
}
TEST_CASE("training with proximal_gd learns", "[threads]") {
  check(optimizer::proximal_gd{.learning_rate = 0.3f, .l1 = 1e-4f, .l2 = 1e-4f});
}
TEST_CASE("training with proximal_adagrad learns", "[threads]") {
  check(optimizer::proximal_adagrad{.learning_rate = 0.1f, .l1 = 1e-4f});
}
TEST_CASE("an optimizer of a user's own", "[threads]") { check(heavy_sign{}); }

TEST_CASE("lamina::train is the default optimizer") {
  lamina::model a{net, 3}, b{net, 3};
  const auto batches = test::samples(30) | test::reader::batch(8);
  lamina::train(a, batches, {.passes = 2});
  optimizer::sgd{.learning_rate = 0.01f}.train(b, batches, {.passes = 2});
  CHECK(test::bytes_of(a) == test::bytes_of(b));
}
