// SPDX-License-Identifier: Apache-2.0
// An optimizer for a program without parameters.
// expect-error: static.assert.*train: the program has no parameters to train
// expect-lines: 12
#include <array>
#include <vector>

#include <lamina/layers/data.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/train/train.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 8>(main);
#ifdef SHOULD_FAIL
  return layer::mean(image);
#else
  return layer::mean(layer::fc<4>(image));
#endif
});

struct sample {
  std::array<float, 8> image;
};

int main() {
  lamina::model m{net};
  const std::vector<std::vector<sample>> batches;
  lamina::optimizer::adam{}.train(m, batches);  // <- here
}
