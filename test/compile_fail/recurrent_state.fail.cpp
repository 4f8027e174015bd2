// SPDX-License-Identifier: Apache-2.0
// An initial state as wide as all gates.
// expect-error: static.assert.*recurrent: an initial state has one row
// expect-fact: expects_type<.*variable<float, .*batch, 2>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/recurrent/lstm/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 8>(main);
  auto other = layer::data<"other", float, 8>(main);
#ifdef SHOULD_FAIL
  return std::get<0>(layer::dynamic_lstm<8>(x, other, other));  // <- here
#else
  (void)other;
  return std::get<0>(layer::dynamic_lstm<8>(x));
#endif
});

int main() { return net.parameter_count() < 0; }
