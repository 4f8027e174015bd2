// SPDX-License-Identifier: Apache-2.0
// Groups that do not divide the filters.
// expect-error: static.assert.*conv2d_transpose: the number of groups divides the channels and the
// expect-fact: expects<2>, .*gets<6, 3>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/conv/layer_conv2d_transpose.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;
using lamina::window;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6, 9, 9>(main);
#ifdef SHOULD_FAIL
  return layer::conv2d_transpose<3, 2, window{.groups = 2}>(x);  // <- here
#else
  return layer::conv2d_transpose<4, 2, window{.groups = 2}>(x);
#endif
});

int main() { return net.parameter_count() < 0; }
