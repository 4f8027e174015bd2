// SPDX-License-Identifier: Apache-2.0
// Gradients of samples with fewer fields than the program has data layers.
// expect-error: static.assert.*reader: a sample has one field for each data layer of the program
// expect-fact: expects<2>.*gets<1>
// expect-lines: 12
#include <vector>

#include <lamina/layers/data.hpp>
#include <lamina/model/gradient_machine.hpp>
#include <lamina/operators/elementwise/binary/layer.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto y = layer::data<"y", float, 1>(main);
  return layer::mean(layer::elementwise_sub(layer::fc<1>(x), y));
});

struct picture {
  float x[4];
};
struct sample {
  float x[4];
  float y;
};

int main() {
  lamina::model m{net};
  lamina::gradient_machine g{m};
#ifdef SHOULD_FAIL
  g.backward(std::vector<picture>(1));  // <- here
#else
  g.backward(std::vector<sample>(1));
#endif
}
