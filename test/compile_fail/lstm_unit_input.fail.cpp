// SPDX-License-Identifier: Apache-2.0
// A step whose input is two-dimensional.
// expect-error: static.assert.*lstm_unit: the input is a row of floating point
// expect-fact: gets_type<.*variable<float, .*batch, 2, 3>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/recurrent/lstm_unit/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto y = layer::data<"y", float, 2, 3>(main);
  auto other = layer::data<"other", float, 2>(main);
#ifdef SHOULD_FAIL
  (void)x;
  return std::get<0>(layer::lstm_unit(y, other, other));  // <- here
#else
  (void)y;
  return std::get<0>(layer::lstm_unit(x, other, other));
#endif
});

int main() { return net.parameter_count() < 0; }
