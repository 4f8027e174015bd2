// SPDX-License-Identifier: Apache-2.0
// Parts without a size.
// expect-error: static.assert.*adaptive_pool2d: the size of the result is positive
// expect-fact: gets<0, 3>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/pool/pool2d/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6, 9, 9>(main);
#ifdef SHOULD_FAIL
  return layer::adaptive_pool2d<lamina::extent2{0, 3}>(x);  // <- here
#else
  return layer::adaptive_pool2d<lamina::extent2{1, 3}>(x);
#endif
});

int main() { return net.parameter_count() < 0; }
