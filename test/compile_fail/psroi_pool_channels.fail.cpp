// SPDX-License-Identifier: Apache-2.0
// Channels that the parts do not divide.
// expect-error: static.assert.*psroi_pool: a sequence of regions of four numbers for each image, and as
// expect-fact: gets<2, 2>
// expect-fact: variable<float, .*batch, 6, 9, 9>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/region/roi/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6, 9, 9>(main);
  auto some = layer::sequence<"some", float, 4>(main);
#ifdef SHOULD_FAIL
  return layer::psroi_pool<2>(x, some);  // <- here
#else
  return layer::psroi_pool<lamina::extent2{2, 3}>(x, some);
#endif
});

int main() { return net.parameter_count() < 0; }
