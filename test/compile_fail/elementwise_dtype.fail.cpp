// SPDX-License-Identifier: Apache-2.0
// A float and an integer in one sum.
// expect-error: static.assert.*elementwise: both operands have one element type
// expect-fact: variable<float, .*batch, 1>
// expect-fact: variable<long( int)?, .*batch, 1>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/elementwise/assign/layer.hpp>
#include <lamina/operators/elementwise/binary/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1>(main);
  auto label = layer::data<"label", std::int64_t>(main);
#ifdef SHOULD_FAIL
  return layer::elementwise_add(x, label);  // <- here
#else
  return layer::elementwise_add(x, layer::cast<float>(label));
#endif
});

int main() { return net.parameter_count() < 0; }
