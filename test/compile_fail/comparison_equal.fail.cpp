// SPDX-License-Identifier: Apache-2.0
// Equality of a variable and a number, which nobody knows while a program is recorded.
// expect-error: static.assert.*comparison: a variable has no value while a program is recorded
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/elementwise/binary/layer_arithmetic.hpp>
#include <lamina/operators/elementwise/unary/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::mean(layer::data<"x", float, 4>(main));
#ifdef SHOULD_FAIL
  return 0 == x ? layer::sqrt(x) : x;  // <- here
#else
  return sizeof(x) == 0 ? layer::sqrt(x) : x;
#endif
});

int main() { return net.parameter_count() != 0; }
