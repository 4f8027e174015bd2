// SPDX-License-Identifier: Apache-2.0
// The distance of rows of two widths.
// expect-error: static.assert.*squared_l2_distance: floating point rows of one shape
// expect-fact: variable<float, .*batch, 4>
// expect-fact: variable<float, .*batch, 3>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/reduce/squared_l2/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto y = layer::data<"y", float, 3>(main);
#ifdef SHOULD_FAIL
  return layer::squared_l2_distance(x, y);  // <- here
#else
  return (void)y, layer::squared_l2_distance(x, x);
#endif
});

int main() { return net.parameter_count() < 0; }
