// SPDX-License-Identifier: Apache-2.0
// Samples with a field more than the program has data layers.
// expect-error: static.assert.*reader: a sample has one field for each data layer of the program
// expect-fact: expects<1>.*gets<2>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/reader/batch.hpp>
#include <lamina/train/train.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  return layer::mean(layer::fc<1>(layer::data<"x", float, 4>(main)));
});

struct picture {
  float x[4];
};
struct labelled {
  float x[4];
  int label;
};

int main() {
  lamina::model m{net};
  lamina::optimizer::sgd sgd{};
#ifdef SHOULD_FAIL
  sgd.train(m, std::vector<labelled>(3) | lamina::reader::batch(2));  // <- here
#else
  sgd.train(m, std::vector<picture>(3) | lamina::reader::batch(2));
#endif
  return 0;
}
