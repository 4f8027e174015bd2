// SPDX-License-Identifier: Apache-2.0
// No reader at all.
// expect-error: static.assert.*reader: expected a reader: a copyable range, or a callable
// expect-fact: gets_type<.*no_reader
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
  adam.train(m);  // <- here
#else
  adam.train(m, batches);
#endif
}
