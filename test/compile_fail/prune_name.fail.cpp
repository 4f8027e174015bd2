// SPDX-License-Identifier: Apache-2.0
// Pruning to a layer that the program has not.
// expect-error: static.assert.*prune: no layer or variable of the program has this name
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/transform/prune.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  return layer::mean(layer::fc<3>(x, {.name = "hidden"}));
});

#ifdef SHOULD_FAIL
constexpr auto part = lamina::transform::prune<"hiden">(net);  // <- here
#else
constexpr auto part = lamina::transform::prune<"hidden">(net);
#endif

int main() { return part.parameter_count() < 0; }
