// SPDX-License-Identifier: Apache-2.0
// A training loop is run with what is no reader.
// expect-error: static.assert.*run: expected a reader of mini-batches after the model
// expect-lines: 12
#include <vector>

#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/minimize.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/reader/batch.hpp>
#include <lamina/train/run.hpp>

namespace layer = lamina::layer;

constexpr auto loop = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  layer::while_loop(more, [&](lamina::block& body) {
    auto [x] = layer::read_minibatch<"train", lamina::field<float, 4>>(body, more);
    lamina::optimizer::sgd{}.minimize(layer::mean(layer::fc<1>(x)));
  });
  return more;
});
struct sample {
  float x[4];
};

int main() {
  const std::vector<sample> samples(8);
  lamina::model model{loop};
#ifdef SHOULD_FAIL
  lamina::run(model, samples[0], {.seed = 1});  // <- here
#else
  lamina::run(model, samples | lamina::reader::batch(4), {.seed = 1});
#endif
}
