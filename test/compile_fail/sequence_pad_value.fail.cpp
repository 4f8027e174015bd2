// SPDX-License-Identifier: Apache-2.0
// A padding of half the width of a row.
// expect-error: static.assert.*sequence_pad: the padding is one number or a row
// expect-fact: gets_type<.*variable<float, .*once, 4>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/sequence/pad/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto frames = layer::sequence<"frames", float, 8>(main);
  auto half = layer::fill_constant<float, 4>(main, 0);
  (void)half;
#ifdef SHOULD_FAIL
  return layer::sequence_pad<4>(frames, half);  // <- here
#else
  return layer::sequence_pad<4>(frames, layer::fill_constant<float, 8>(main, 0));
#endif
});

int main() { return net.parameter_count() < 0; }
