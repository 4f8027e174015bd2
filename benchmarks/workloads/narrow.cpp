// SPDX-License-Identifier: Apache-2.0
// N1 is a training step of a narrow perceptron (4 hidden layers of width 64) with SGD and batches
// of 2^18 samples. N1f is its forward pass.
#include "../networks/narrow.hpp"

#include "../classifier.hpp"

constexpr auto net = lamina::program([](lamina::block& main) { return networks::narrow(main); });

int main(int count, char** argument) {
  const workload::classifier w(net, {64});
  return workload::serve(count, argument, {{"N1", w.train(1 << 18)}, {"N1f", w.infer(1 << 18)}});
}
