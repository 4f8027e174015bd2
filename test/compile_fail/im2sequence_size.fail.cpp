// SPDX-License-Identifier: Apache-2.0
// A window wider than the image.
// expect-error: static.assert.*im2sequence: floating point images, one per row, into which a window
// expect-fact: expects<9, 10>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/region/patch/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6, 9, 9>(main);
#ifdef SHOULD_FAIL
  return layer::im2sequence<"lines", lamina::extent2{9, 10}>(x);  // <- here
#else
  return layer::im2sequence<"lines", lamina::extent2{9, 1}>(x);
#endif
});

int main() { return net.parameter_count() < 0; }
