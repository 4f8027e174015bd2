// SPDX-License-Identifier: Apache-2.0
// A filter deeper than the volume.
// expect-error: static.assert.*conv3d: a filter fits into the padded volume
// expect-fact: expects<3, 3, 3>, .*gets<2, 9, 9>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/conv/layer_conv3d.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6, 2, 9, 9>(main);
#ifdef SHOULD_FAIL
  return layer::conv3d<4, 3>(x);  // <- here
#else
  return layer::conv3d<4, 3, lamina::window3{.padding = 1}>(x);
#endif
});

int main() { return net.parameter_count() < 0; }
