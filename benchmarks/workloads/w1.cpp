// SPDX-License-Identifier: Apache-2.0
// W1 is a training step of a perceptron 784-128-64-10 with relu, softmax cross entropy, SGD and
// batches of 64. W1f is its forward pass with batches of 64, W1b with batches of 1.
#include "../classifier.hpp"
#include "../networks/perceptron.hpp"

constexpr auto net =
    lamina::program([](lamina::block& main) { return networks::perceptron(main); });

int main(int count, char** argument) {
  const workload::classifier w(net, {784});
  return workload::serve(count, argument,
                         {{"W1", w.train(64)}, {"W1f", w.infer(64)}, {"W1b", w.infer(1)}});
}
