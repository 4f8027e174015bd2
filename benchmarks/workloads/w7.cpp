// SPDX-License-Identifier: Apache-2.0
// W7: a training step of a ResNet on 32 x 32 images, three stages of two basic blocks with 16, 32
// and 64 channels, batch_norm, batch 32, SGD; W7i its inference.
#include "../classifier.hpp"
#include "../networks/resnet.hpp"

constexpr auto net = lamina::program([](lamina::block& main) { return networks::resnet(main); });

int main(int count, char** argument) {
  const workload::classifier w(net, {3, 32, 32});
  return workload::serve(count, argument,
                         {{"W7", w.train(32)}, {"W7i", w.infer(32)}, {"W7b", w.train(256)}});
}
