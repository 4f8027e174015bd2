// SPDX-License-Identifier: Apache-2.0
// Sequences for a data layer of dense samples.
// expect-error: static.assert.*feed: this data layer takes no sequences
// expect-lines: 12
#include <vector>

#include <lamina/layers/data.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 8>(main);
  return layer::fc<4>(image, {.name = "output"});
});

int main() {
  lamina::model m{net};
  lamina::evaluator e{m};
#ifdef SHOULD_FAIL
  const std::vector<std::vector<float>> pixels(2, std::vector<float>(8));
  e.forward(lamina::feed<"image">(pixels));  // <- here
#else
  const std::vector<float> pixels(16);
  e.forward(lamina::feed<"image">(pixels));
#endif
}
