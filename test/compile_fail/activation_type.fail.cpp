// SPDX-License-Identifier: Apache-2.0
// An activation of integers.
// expect-error: static.assert.*layer: the input is floating point
// expect-fact: gets_type<.*variable<long( int)?, .*batch, 1>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/activation/simple/layer.hpp>
#include <lamina/operators/elementwise/assign/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", std::int64_t>(main);
#ifdef SHOULD_FAIL
  return layer::relu(x);  // <- here
#else
  return layer::relu(layer::cast<float>(x));
#endif
});

int main() { return net.parameter_count() < 0; }
