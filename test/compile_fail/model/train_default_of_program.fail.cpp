// SPDX-License-Identifier: Apache-2.0
// A program that has no parameters yet is trained with the default optimizer.
// expect-error: static.assert.*train: expected a model, train\(model, reader\), found a program
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
  const std::vector<sample> samples(8);
#ifdef SHOULD_FAIL
  lamina::train(net, samples | lamina::reader::batch(4), {.passes = 2});  // <- here
#else
  lamina::model m{net};
  lamina::train(m, samples | lamina::reader::batch(4), {.passes = 2});
#endif
}
