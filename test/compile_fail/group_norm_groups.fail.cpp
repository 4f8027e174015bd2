// SPDX-License-Identifier: Apache-2.0
// Groups that do not divide the channels.
// expect-error: static.assert.*group_norm: the number of groups divides the number of channels
// expect-fact: expects<4>, .*gets<6>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/norm/layer_norm/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6, 9, 9>(main);
  auto y = layer::data<"y", float, 6, 2, 2>(main);
#ifdef SHOULD_FAIL
  (void)x;
  return layer::group_norm<4>(y);  // <- here
#else
  (void)y;
  return layer::group_norm<3>(x);
#endif
});

int main() { return net.parameter_count() < 0; }
