// SPDX-License-Identifier: Apache-2.0
// One number a channel has no deviation.
// expect-error: static.assert.*instance_norm: the input is floating point and has rows, channels
// expect-fact: gets_type<.*float, .*batch, 8>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/norm/layer_norm/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6, 9, 9>(main);
  auto y = layer::data<"y", float, 8>(main);
#ifdef SHOULD_FAIL
  (void)x;
  return layer::instance_norm(y);  // <- here
#else
  (void)y;
  return layer::instance_norm(x);
#endif
});

int main() { return net.parameter_count() < 0; }
