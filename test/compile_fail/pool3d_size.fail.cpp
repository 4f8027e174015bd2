// SPDX-License-Identifier: Apache-2.0
// Padding as wide as a window, which would hold nothing else.
// expect-error: static.assert.*pool3d: sizes and strides are positive, padding is below the size
// expect-fact: expects<2, 2, 2>
// expect-fact: gets<2, 0, 0>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/pool/pool3d/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  using lamina::window3;
  auto x = layer::data<"x", float, 1, 4, 4, 4>(main);
#ifdef SHOULD_FAIL
  return layer::pool3d<2, window3{.padding = {2, 0, 0}}>(x);  // <- here
#else
  return layer::pool3d<2, window3{.padding = {1, 0, 0}}>(x);
#endif
});

int main() { return net.parameter_count() < 0; }
