// SPDX-License-Identifier: Apache-2.0
// residual_blocks - twelve residual blocks from a loop, with names of prefix and index
#include <cstdio>

#include <lamina/inspect/summary.hpp>
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;
using lamina::activation;
using lamina::indexed;

constexpr int blocks = 12;
constexpr auto net = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 64>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h = layer::fc<32>(image, {.act = activation::relu, .name = "input"});
  for (int i = 0; i < blocks; ++i) {
    auto inner = layer::fc<32>(h, {.act = activation::relu, .name = indexed("block", i, "first")});
    // The second layer of a block begins small, so that the block begins as the identity nearly.
    h = h + layer::fc<32>(inner, {.param = {.initializer = lamina::init::normal(0, 0.02f)},
                                  .name = indexed("block", i, "second")});
  }
  auto logits = layer::fc<10>(h, {.name = "output"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

int main() {
  std::printf("%s\n", lamina::summary(net).text().c_str());
  lamina::model model{net};
  const auto before = model.parameter<"block_11.second.w_0">();
  lamina::optimizer::adam adam{.learning_rate = 1e-3f};
  adam.train(model, lamina::dataset::digits::train() | reader::shuffle(2000) | reader::batch(16),
             {.passes = 12});
  lamina::evaluator e{model};
  const double accuracy =
      e.test(lamina::dataset::digits::test() | reader::batch(64)).metric("accuracy");
  std::printf("test accuracy %.4f\n", accuracy);
  return accuracy >= 0.92 && before != model.parameter<"block_11.second.w_0">() ? 0 : 1;
}
