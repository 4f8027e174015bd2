// SPDX-License-Identifier: Apache-2.0
// A window without rows.
// expect-error: static.assert.*sequence_conv: number and size of the filters are positive
// expect-fact: gets<4, 0>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/sequence/conv/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 8>(main);
#ifdef SHOULD_FAIL
  return layer::sequence_conv<4, 0>(x);  // <- here
#else
  return layer::sequence_conv<4, 1>(x);
#endif
});

int main() { return net.parameter_count() < 0; }
