// SPDX-License-Identifier: Apache-2.0
// Labels of floats in the samples of a program whose labels are integers: 1.5 would be class 1.
// expect-error: static.assert.*reader: a field holds what its data layer takes
// expect-fact: named<'l', 'a', 'b', 'e', 'l'>.*expects_type<long.*gets_type<float>
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
struct labelled_by_float {
  float x[4];
  float label;
};

int main() {
  lamina::model m{net};
  lamina::optimizer::sgd sgd{};
#ifdef SHOULD_FAIL
  sgd.train(m, std::vector<labelled_by_float>(3) | lamina::reader::batch(2));  // <- here
#else
  sgd.train(m, std::vector<labelled>(3) | lamina::reader::batch(2));
#endif
  return 0;
}
