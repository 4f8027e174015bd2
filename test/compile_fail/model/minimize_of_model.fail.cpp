// SPDX-License-Identifier: Apache-2.0
// A model where a cost belongs.
// expect-error: static.assert.*minimize: expected the cost, a variable of the program
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/optimizer/minimize.hpp>
#include <lamina/optimizer/optimizers.hpp>
#include <lamina/reader/reader.hpp>
#include <lamina/train/train.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  return layer::mean(layer::fc<1>(x, {.name = "output"}));
});

int main() {
  lamina::model m{net};
  lamina::optimizer::sgd sgd{};
  std::vector<std::array<float, 2>> samples(3);
#ifdef SHOULD_FAIL
  sgd.minimize(m);  // <- here
#else
  sgd.train(m, samples | lamina::reader::batch(1));
#endif
  return 0;
}
