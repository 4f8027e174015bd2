// SPDX-License-Identifier: Apache-2.0
// Places in a variable without rows: nobody knows how many there will be.
// expect-error: static.assert.*where: the condition has rows, each of which gets a
// expect-fact: sequence of positions
// expect-fact: variable<float, .*once, 4>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/fill/layer.hpp>
#include <lamina/operators/shape/query/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto table = layer::fill_constant<float, 4>(main, 1);
#ifdef SHOULD_FAIL
  return (void)x, layer::where<"found">(table);  // <- here
#else
  return (void)table, layer::where<"found">(x);
#endif
});

int main() { return net.parameter_count() < 0; }
