// SPDX-License-Identifier: Apache-2.0
// W2 is a training step of the LeNet of PaddlePaddle's book with SGD and batches of 64. W2i is its
// inference with batches of 64, W2i1 with batches of 1.
#include "../classifier.hpp"
#include "../networks/lenet.hpp"

constexpr auto net = lamina::program([](lamina::block& main) { return networks::lenet(main); });

int main(int count, char** argument) {
  const workload::classifier w(net, {1, 28, 28});
  return workload::serve(count, argument,
                         {{"W2", w.train(64)}, {"W2i", w.infer(64)}, {"W2i1", w.infer(1)}});
}
