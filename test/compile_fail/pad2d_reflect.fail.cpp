// SPDX-License-Identifier: Apache-2.0
// A mirror shows no more than there is.
// expect-error: static.assert.*pad2d: floating point images, paddings are not negative, and below
// expect-fact: gets<9, 0, 0, 0>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/resize/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6, 9, 9>(main);
#ifdef SHOULD_FAIL
  return layer::pad2d<9, 0, 0, 0, lamina::pad_mode::reflect>(x);  // <- here
#else
  return layer::pad2d<9, 0, 0, 0, lamina::pad_mode::edge>(x);
#endif
});

int main() { return net.parameter_count() < 0; }
