// SPDX-License-Identifier: Apache-2.0
// validation - stops early with the best parameters; weights for the classes with few samples
#include <array>
#include <cstdio>
#include <vector>

#include <lamina/lamina.hpp>
#include <lamina/train/fit.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;
namespace digits = lamina::dataset::digits;

template <bool Weighted>
constexpr auto net = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 64>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto hidden = layer::fc<64>(image, {.act = lamina::activation::relu});
  auto logits = layer::fc<10>(hidden, {.name = "output"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  auto costs = layer::softmax_with_cross_entropy(logits, label);
  if constexpr (Weighted)
    return layer::weighted_mean(
        costs, layer::class_weights(label, {1.f, 1.f, 1.f, 1.f, 1.f, 1.f, 1.f, 1.f, 10.f, 10.f}));
  else
    return layer::mean(costs);
});

// The digits 8 and 9 are ten times as rare as the others.
std::vector<digits::sample> unbalanced() {
  std::vector<digits::sample> kept;
  int rare = 0;
  for (const auto& s : digits::train())
    if (s.label < 8 || rare++ % 10 == 0) kept.push_back({s.image, s.label});
  return kept;
}

// Trains until the cost of the validation samples has not fallen for 5 passes. The accuracy of each
// class over the test samples, which are balanced.
template <lamina::program_type Net>
std::array<double, 10> accuracies(const Net& net) {
  lamina::model model{net};
  lamina::optimizer::adam adam{.learning_rate = 1e-3f};
  lamina::trainer trainer{model, adam};
  const auto [train, held_out] = unbalanced() | reader::split(0.8);
  const auto fitted = lamina::fit(trainer, train | reader::shuffle(2000) | reader::batch(16),
                                  held_out | reader::batch(64), {.passes = 200, .patience = 5});
  std::printf("%d passes; the best one was %d, with a cost of %.4f\n", fitted.passes,
              fitted.best_pass + 1, fitted.best.cost);

  lamina::evaluator e{model};
  if (!fitted.stopped_early || e.test(held_out | reader::batch(64)).cost != fitted.best.cost)
    throw lamina::error("the model does not have the parameters of the best pass");
  std::array<double, 10> right{};
  for (std::size_t digit = 0; digit < 10; ++digit) {
    std::vector<digits::sample> of_digit;
    for (const auto& s : digits::test())
      if (s.label == static_cast<std::int64_t>(digit)) of_digit.push_back({s.image, s.label});
    right[digit] = e.test(of_digit | reader::batch(64)).metric("accuracy");
  }
  return right;
}

int main() try {
  const auto plain = accuracies(net<false>), weighted = accuracies(net<true>);
  std::puts("digit  accuracy  with weights");
  for (std::size_t i = 0; i < 10; ++i) std::printf("%5zu %9.3f %13.3f\n", i, plain[i], weighted[i]);
  return weighted[8] + weighted[9] > plain[8] + plain[9] + 0.2 ? 0 : 1;
} catch (const lamina::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
