// SPDX-License-Identifier: Apache-2.0
// A filter larger than the image.
// expect-error: static.assert.*conv2d: a filter fits into the padded image
// expect-fact: expects<3, 12>, .*gets<9, 9>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/conv/layer_conv2d.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;
using lamina::window;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6, 9, 9>(main);
#ifdef SHOULD_FAIL
  return layer::conv2d<8, lamina::extent2{3, 12}>(x);  // <- here
#else
  return layer::conv2d<8, lamina::extent2{3, 12}, window{.padding = {0, 2}}>(x);
#endif
});

int main() { return net.parameter_count() < 0; }
