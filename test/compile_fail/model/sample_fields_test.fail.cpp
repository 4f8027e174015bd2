// SPDX-License-Identifier: Apache-2.0
// Samples with fewer fields than the program has data layers, to be tested with.
// expect-error: static.assert.*reader: a sample has one field for each data layer of the program
// expect-fact: expects<2>.*gets<1>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/operators/elementwise/binary/layer.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/reader/batch.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto y = layer::data<"y", float, 1>(main);
  return layer::mean(layer::elementwise_sub(layer::fc<1>(x), y));
});

struct picture {
  float x[4];
};
struct labelled {
  float x[4];
  float label;
};

int main() {
  lamina::model m{net};
  lamina::evaluator e{m};
#ifdef SHOULD_FAIL
  e.test(std::vector<picture>(3) | lamina::reader::batch(2));  // <- here
#else
  e.test(std::vector<labelled>(3) | lamina::reader::batch(2));
#endif
  return 0;
}
