// SPDX-License-Identifier: Apache-2.0
// Padding as wide as the window.
// expect-error: static.assert.*pool2d: sizes and strides are positive, padding is below the size
// expect-fact: expects<2, 2>, .*gets<2, 2>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/pool/pool2d/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;
using lamina::window;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6, 9, 9>(main);
#ifdef SHOULD_FAIL
  return layer::pool2d<2, window{.padding = 2}>(x);  // <- here
#else
  return layer::pool2d<2, window{.padding = 1}>(x);
#endif
});

int main() { return net.parameter_count() < 0; }
