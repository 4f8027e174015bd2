// SPDX-License-Identifier: Apache-2.0
// A stride of 0.
// expect-error: static.assert.*conv2d: filters, their size, stride and dilation are positive
// expect-fact: gets<8, 3, 3>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/conv/layer_conv2d.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;
using lamina::window;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6, 9, 9>(main);
#ifdef SHOULD_FAIL
  return layer::conv2d<8, 3, window{.stride = 0}>(x);  // <- here
#else
  return layer::conv2d<8, 3, window{.stride = 2}>(x);
#endif
});

int main() { return net.parameter_count() < 0; }
