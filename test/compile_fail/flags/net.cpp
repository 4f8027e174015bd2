// SPDX-License-Identifier: Apache-2.0
// A program that trains and tests a net with a branch, for the flags of compiler_flags.py.
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;

constexpr auto digits = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 64>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto low = layer::less_than(label, layer::fill_constant<std::int64_t>(main, 5));
  auto hidden = layer::if_else(
      low, [&](auto& branch) { return layer::fc<16>(branch.input(image)); },
      [&](auto& branch) {
        return layer::fc<16>(branch.input(image), {.act = lamina::activation::relu});
      });
  auto logits = layer::fc<10>(hidden, {.name = "logits"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

int main() {
  lamina::model model{digits};
  lamina::optimizer::adam adam{.learning_rate = 0.01f};
  adam.train(model, lamina::dataset::digits::train() | reader::batch(16), {.passes = 1});
  lamina::evaluator evaluator{model};
  evaluator.forward(lamina::feed<"image">(lamina::dataset::digits::test()[0].image));
  return evaluator.activation<"logits">()(0, 3) > 0 ? 0 : 1;
}
