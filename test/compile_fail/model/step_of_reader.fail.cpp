// SPDX-License-Identifier: Apache-2.0
// A reader of mini-batches in place of one mini-batch.
// expect-error: static.assert.*trainer: expected a mini-batch, a range of samples; pass.. takes
// expect-fact: gets_type<.*batched_reader
// expect-lines: 12
#include <vector>

#include <lamina/layers/data.hpp>
#include <lamina/operators/elementwise/binary/layer.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/reader/batch.hpp>
#include <lamina/train/trainer.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto y = layer::data<"y", float, 1>(main);
  return layer::mean(layer::elementwise_sub(layer::fc<1>(x), y));
});

struct sample {
  float x[4];
  float y;
};

int main() {
  lamina::model m{net};
  lamina::optimizer::adam adam;
  lamina::trainer t{m, adam};
  const std::vector<sample> samples(4);
#ifdef SHOULD_FAIL
  t.step(samples | lamina::reader::batch(2));  // <- here
#else
  t.step(samples);
#endif
}
