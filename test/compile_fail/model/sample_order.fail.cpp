// SPDX-License-Identifier: Apache-2.0
// Samples whose fields stand in another order than the data layers.
// expect-error: static.assert.*reader: a field holds what its data layer takes
// expect-fact: named<'x'>.*expects_type<std::array<float, 4.*gets_type<int>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/loss/cross_entropy/layer_softmax.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/reader/batch.hpp>
#include <lamina/train/train.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<3>(x), label));
});

struct labelled {
  float x[4];
  int label;
};
struct label_first {
  int label;
  float x[4];
};

int main() {
  lamina::model m{net};
  lamina::optimizer::sgd sgd{};
#ifdef SHOULD_FAIL
  sgd.train(m, std::vector<label_first>(3) | lamina::reader::batch(2));  // <- here
#else
  sgd.train(m, std::vector<labelled>(3) | lamina::reader::batch(2));
#endif
  return 0;
}
