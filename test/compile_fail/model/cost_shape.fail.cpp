// SPDX-License-Identifier: Apache-2.0
// A cost of one number a sample.
// expect-error: static.assert.*train: the cost is one number
// expect-fact: gets_type<.*variable<float, .*batch, 1>
// expect-lines: 12
#include <array>
#include <vector>

#include <lamina/layers/data.hpp>
#include <lamina/operators/loss/cross_entropy/layer_softmax.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/train/train.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 8>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto each = layer::softmax_with_cross_entropy(layer::fc<4>(image), label);
#ifdef SHOULD_FAIL
  return each;
#else
  return layer::mean(each);
#endif
});

struct sample {
  std::array<float, 8> image;
  std::int64_t label;
};

int main() {
  lamina::model m{net};
  const std::vector<std::vector<sample>> batches;
  lamina::optimizer::adam{}.train(m, batches);  // <- here
}
