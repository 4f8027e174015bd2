// SPDX-License-Identifier: Apache-2.0
// Trains on the digits that are compiled into the program, and prints the costs of the first
// mini-batches, which test/platforms/run.py compares between processors.
#include <cstdint>

#include "output.hpp"

#include <lamina/dataset/digits.hpp>
#include <lamina/layers/data.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/model.hpp>
#include <lamina/operators/loss/cross_entropy/layer_softmax.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/metric/classification/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/reader/batch.hpp>
#include <lamina/reader/shuffle.hpp>
#include <lamina/train/train.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;

constexpr auto digits = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 64>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto hidden = layer::fc<128>(image, {.act = lamina::activation::relu});
  auto logits = layer::fc<10>(hidden, {.name = "output"});
  layer::accuracy(logits, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

int main() {
  lamina::model model{digits};
  lamina::optimizer::adam adam{.learning_rate = 3e-3f};
  int printed = 0;
  adam.train(model, lamina::dataset::digits::train() | reader::shuffle(2000) | reader::batch(16),
             {.passes = 10, .on_event = [&](const lamina::event& event) {
                if (event.is_end_iteration() && printed++ < 20) output::number("cost", event.cost);
              }});
  lamina::evaluator e{model};
  const auto result = e.test(lamina::dataset::digits::test() | reader::batch(64));
  // Rounding, which differs between processors, changes the class of some samples.
  output::number("accurate", result.metric("accuracy") > 0.96 ? 1 : 0);
  return output::end();
}
