// SPDX-License-Identifier: Apache-2.0
// W7 is a training step of a ResNet on images of 32 x 32 with SGD and batches of 32. It has three
// stages of two basic blocks, with 16, 32 and 64 channels, and batch_norm. W7i is its inference.
#include "../classifier.hpp"
#include "../networks/resnet.hpp"

constexpr auto net = lamina::program([](lamina::block& main) { return networks::resnet(main); });

int main(int count, char** argument) {
  const workload::classifier w(net, {3, 32, 32});
  return workload::serve(count, argument,
                         {{"W7", w.train(32)}, {"W7i", w.infer(32)}, {"W7b", w.train(256)}});
}
