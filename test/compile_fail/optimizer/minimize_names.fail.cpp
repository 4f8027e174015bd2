// SPDX-License-Identifier: Apache-2.0
// Names as an argument of minimize.
// expect-error: lamina: minimize: expected only<\.\.\.>, prefix<\.\.\.>, except<\.\.\.> or parameters after
// The shortest path of includes to a header makes the shortest message.
// clang-format off
#include <lamina/program/program.hpp>
// clang-format on

#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/minimize.hpp>
#include <lamina/optimizer/sgd.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto cost = layer::mean(layer::square(layer::fc<1>(x, {.name = "d_fc"})));
  lamina::optimizer::sgd sgd{.learning_rate = 0.1f};
#ifdef SHOULD_FAIL
  sgd.minimize(cost, "d_fc");  // <- here
#else
  sgd.minimize(cost, lamina::only<"d_fc">);
#endif
});

int main() { return net.desc.count.operators > 0 ? 0 : 1; }
