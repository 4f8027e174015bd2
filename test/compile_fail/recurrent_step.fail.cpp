// SPDX-License-Identifier: Apache-2.0
// A step from a state as wide as all gates.
// expect-error: static.assert.*recurrent: the state has the rows of the input
// expect-fact: expects_type<.*variable<float, .*batch, 2>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/recurrent/gru/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto other = layer::data<"other", float, 2>(main);
#ifdef SHOULD_FAIL
  return std::get<0>(layer::gru_unit<6>(x, x));  // <- here
#else
  (void)other;
  return std::get<0>(layer::gru_unit<6>(x, other));
#endif
});

int main() { return net.parameter_count() < 0; }
