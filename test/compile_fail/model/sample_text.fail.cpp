// SPDX-License-Identifier: Apache-2.0
// A text as the label of a sample, whose characters are no numbers.
// expect-error: static.assert.*reader: a field holds what its data layer takes
// expect-fact: named<'y'>.*expects_type<.*gets_type<.*basic_string<char
#include <string>

#include <lamina/layers/data.hpp>
#include <lamina/operators/activation/softmax/layer.hpp>
#include <lamina/operators/loss/cross_entropy/layer.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/reader/batch.hpp>
#include <lamina/train/train.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto y = layer::data<"y", std::int64_t, 1>(main);
  return layer::mean(layer::cross_entropy(layer::softmax(layer::fc<3>(x)), y));
});

struct sample {
  std::array<float, 4> x;
#ifdef SHOULD_FAIL
  std::string y;
#else
  std::int64_t y;
#endif
};

int main() {
  lamina::model m{net};
  lamina::optimizer::sgd sgd;
  sgd.train(m, std::vector<sample>(4) | lamina::reader::batch(2));  // <- here
  return 0;
}
