// SPDX-License-Identifier: Apache-2.0
// Labels of an enumeration: no number is meant by one without a cast.
// expect-error: static.assert.*reader: a field holds what its data layer takes
// expect-fact: named<'l', 'a', 'b', 'e', 'l'>.*expects_type<long.*gets_type<.*species>
// expect-lines: 12
#include <array>

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

enum class species { setosa, versicolor, virginica };
struct flower {
  std::array<float, 4> x;
  species kind;
};
struct numbered {
  std::array<float, 4> x;
  int kind;
};

int main() {
  lamina::model m{net};
  lamina::optimizer::sgd sgd{};
#ifdef SHOULD_FAIL
  sgd.train(m, std::vector<flower>(3) | lamina::reader::batch(2));  // <- here
#else
  sgd.train(m, std::vector<numbered>(3) | lamina::reader::batch(2));
#endif
}
