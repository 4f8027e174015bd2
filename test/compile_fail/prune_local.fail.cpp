// SPDX-License-Identifier: Apache-2.0
// Pruning to a layer in the body of a loop.
// expect-error: static.assert.*prune: a variable of a loop or branch does not exist after it
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/transform/prune.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto i = layer::fill_constant<std::int64_t>(main, 0);
  auto n = layer::fill_constant<std::int64_t>(main, 3);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](lamina::block&) {
    x = layer::fc<4>(x, {.name = "inside"});
    layer::increment(i);
    layer::less_than(i, n, going);
  });
  return layer::mean(layer::fc<3>(x, {.name = "behind"}));
});

#ifdef SHOULD_FAIL
constexpr auto part = lamina::transform::prune<"inside">(net);  // <- here
#else
constexpr auto part = lamina::transform::prune<"behind">(net);
#endif

int main() { return part.parameter_count() < 0; }
