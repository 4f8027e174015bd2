// SPDX-License-Identifier: Apache-2.0
// A difference of two shapes.
// expect-error: static.assert.*minus: both sides have one shape, one element type and the same rows
// expect-fact: variable<float, .*batch, 4>
// expect-fact: variable<float, .*batch, 3>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/elementwise/sum/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto y = layer::data<"y", float, 3>(main);
#ifdef SHOULD_FAIL
  return layer::minus(x, y);  // <- here
#else
  return (void)y, layer::minus(x, x);
#endif
});

int main() { return net.parameter_count() < 0; }
