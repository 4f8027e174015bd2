// SPDX-License-Identifier: Apache-2.0
// A training with a metric and a test, for warnings that the compiler gives while it optimises.
#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  auto y = layer::data<"y", std::int64_t>(main);
  auto logits = layer::fc<2>(x);
  layer::accuracy(logits, y, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, y));
});

int main() {
  lamina::model m{net};
  const std::vector<std::tuple<std::array<float, 2>, std::int64_t>> samples(40);
  const auto batches = samples | lamina::reader::batch(10);
  const double cost = lamina::optimizer::sgd{.learning_rate = 0.5f}.train(m, batches).cost;
  return cost >= 0 && lamina::evaluator{m}.test(batches).metric("accuracy") == 1 ? 0 : 1;
}
