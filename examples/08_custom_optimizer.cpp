// SPDX-License-Identifier: Apache-2.0
// custom_optimizer - a custom optimizer that gives only `update`, beside two that exist
#include <cstdio>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;

// Steps of one length, up or down: p -= lr * sign(g). The equation is fused into the product that
// computes g.
struct sign_sgd : lamina::optimizer::rule<sign_sgd> {
  lamina::optimizer::learning_rate learning_rate = 1e-3f;
  template <class T>
  LAMINA_FN static void update(T& param, T grad, T lr) {
    param -= lr * lamina::math::sign(grad);
  }
};

constexpr auto net = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 64>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto hidden = layer::fc<64>(image, {.act = lamina::activation::relu});
  auto logits = layer::fc<10>(hidden);
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

template <class Optimizer>
double accuracy_with(const char* name, const Optimizer& optimizer) {
  lamina::model model{net};
  optimizer.train(model,
                  lamina::dataset::digits::train() | reader::shuffle(2000) | reader::batch(32),
                  {.passes = 15});
  const auto test = lamina::dataset::digits::test() | reader::batch(64);
  const double accuracy = lamina::evaluator{model}.test(test).metric("accuracy");
  std::printf("%-10s test accuracy %.4f\n", name, accuracy);
  return accuracy;
}

int main() {
  namespace schedule = lamina::schedule;
  accuracy_with("sgd", lamina::optimizer::sgd{.learning_rate = 0.1f});
  accuracy_with("adam", lamina::optimizer::adam{.learning_rate = 2e-3f});
  // A schedule fits wherever a learning rate is expected, in a user's optimizer too.
  const double own = accuracy_with(
      "sign_sgd", sign_sgd{.learning_rate = schedule::exponential_decay{2e-3f, 100, 0.8f}});
  return own >= 0.9 ? 0 : 1;
}
