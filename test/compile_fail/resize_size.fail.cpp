// SPDX-License-Identifier: Apache-2.0
// An image without rows.
// expect-error: static.assert.*resize: the images are floating point, one per row, the new size is
// expect-fact: gets<0, 4>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/resize/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6, 9, 9>(main);
#ifdef SHOULD_FAIL
  return layer::resize_bilinear<lamina::extent2{0, 4}>(x);  // <- here
#else
  return layer::resize_bilinear<lamina::extent2{1, 4}>(x);
#endif
});

int main() { return net.parameter_count() < 0; }
