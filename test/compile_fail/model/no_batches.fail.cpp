// SPDX-License-Identifier: Apache-2.0
// A reader of samples where one of mini-batches is expected.
// expect-error: static.assert.*reader: expected mini-batches, ranges of samples
// expect-fact: gets_type<.*sample
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
struct sample {
  float x[4];
};

int main() {
  lamina::model m{net};
  const std::vector<sample> samples(8);
#ifdef SHOULD_FAIL
  lamina::optimizer::sgd{}.train(m, samples);  // <- here
#else
  lamina::optimizer::sgd{}.train(m, samples | lamina::reader::batch(4));
#endif
}
