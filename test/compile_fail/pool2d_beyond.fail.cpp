// SPDX-License-Identifier: Apache-2.0
// A last window behind the image.
// expect-error: static.assert.*pool2d: every window holds a part of the image
// expect-fact: expects<2, 2>, .*gets<9, 9>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/pool/pool2d/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;
using lamina::window;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6, 9, 9>(main);
#ifdef SHOULD_FAIL
  return layer::pool2d<2, window{.stride = 10, .padding = 1, .ceil_mode = true}>(x);  // <- here
#else
  return layer::pool2d<2, window{.stride = 10, .padding = 1}>(x);
#endif
});

int main() { return net.parameter_count() < 0; }
