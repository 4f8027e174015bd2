// SPDX-License-Identifier: Apache-2.0
// A program of one step where one that is a training loop belongs.
// expect-error: static.assert.*run: the program has no layer::read_minibatch
// expect-lines: 12
#include <vector>

#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/train/run.hpp>
#include <lamina/train/train.hpp>

constexpr auto net = lamina::program([](lamina::block& main) {
  return lamina::layer::mean(lamina::layer::fc<1>(lamina::layer::data<"x", float>(main)));
});

int main() {
  lamina::model model{net};
  const std::vector<std::vector<float>> batches;
#ifdef SHOULD_FAIL
  lamina::run(model, batches);  // <- here
#else
  lamina::optimizer::sgd{}.train(model, batches);
#endif
}
