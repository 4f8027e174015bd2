// SPDX-License-Identifier: Apache-2.0
// Reader and model in the wrong order.
// expect-error: static.assert.*train: expected a model and a reader after it, train\(model,
// expect-fact: reader\)
// expect-fact: gets_type<.*reader
// expect-lines: 11
#include <array>
#include <vector>

#include <lamina/layers/data.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/reader/batch.hpp>
#include <lamina/train/train.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  return layer::mean(layer::fc<1>(x, {.name = "output"}));
});

int main() {
  lamina::model m{net};
  lamina::optimizer::adam adam{.learning_rate = 1e-3f};
  auto batches = std::vector<std::array<float, 2>>(3) | lamina::reader::batch(2);
#ifdef SHOULD_FAIL
  adam.train(batches, m, {.passes = 2});  // <- here
#else
  adam.train(m, batches, {.passes = 2});
#endif
}
