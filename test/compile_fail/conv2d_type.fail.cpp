// SPDX-License-Identifier: Apache-2.0
// Whole numbers as images.
// expect-error: static.assert.*conv2d: the images are floating point, one per row
// expect-fact: gets_type<.*6, 9, 9>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/conv/layer_conv2d.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6, 9, 9>(main);
#ifdef SHOULD_FAIL
  return layer::conv2d<8, 3>(layer::data<"n", int, 6, 9, 9>(main));  // <- here
#else
  return layer::conv2d<8, 3>(x);
#endif
});

int main() { return net.parameter_count() < 0; }
