// SPDX-License-Identifier: Apache-2.0
// A step from two states of different widths.
// expect-error: static.assert.*lstm_unit: hidden and cell have the rows of the input
// expect-fact: expects_type<.*variable<float, .*batch, 2>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/recurrent/lstm_unit/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto other = layer::data<"other", float, 2>(main);
#ifdef SHOULD_FAIL
  return std::get<0>(layer::lstm_unit(x, x, other));  // <- here
#else
  (void)other;
  return std::get<0>(layer::lstm_unit(x, other, other));
#endif
});

int main() { return net.parameter_count() < 0; }
