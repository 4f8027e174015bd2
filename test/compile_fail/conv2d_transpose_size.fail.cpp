// SPDX-License-Identifier: Apache-2.0
// More than a stride beyond the least size.
// expect-error: static.assert.*conv2d_transpose: the result has a size, and less than a stride more
// expect-fact: expects<18, 18>, .*gets<20, 18>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/conv/layer_conv2d_transpose.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;
using lamina::window;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6, 9, 9>(main);
#ifdef SHOULD_FAIL
  return layer::conv2d_transpose<3, 2, window{.stride = 2}, lamina::extent2{20, 18}>(x);  // <- here
#else
  return layer::conv2d_transpose<3, 2, window{.stride = 2}, lamina::extent2{19, 18}>(x);
#endif
});

int main() { return net.parameter_count() < 0; }
