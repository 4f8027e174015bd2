// SPDX-License-Identifier: Apache-2.0
// A size that four gates cannot share.
// expect-error: static.assert.*recurrent: the size is positive
// expect-fact: gets<10>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/recurrent/lstm/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 8>(main);
  auto other = layer::data<"other", float, 8>(main);
#ifdef SHOULD_FAIL
  return std::get<0>(layer::dynamic_lstm<10>(layer::sequence<"y", float, 10>(main)));  // <- here
#else
  (void)other;
  return std::get<0>(layer::dynamic_lstm<8>(x));
#endif
});

int main() { return net.parameter_count() < 0; }
