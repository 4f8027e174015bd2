// SPDX-License-Identifier: Apache-2.0
// Padding values that form no sequences.
// expect-error: static.assert.*sequence_pad: the rows of the input form sequences
// expect-fact: gets_type<.*variable<float, .*batch, 8>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/sequence/pad/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 8>(main);
  auto frames = layer::sequence<"frames", float, 8>(main);
  (void)x, (void)frames;
#ifdef SHOULD_FAIL
  return layer::sequence_pad<4>(x, 0);  // <- here
#else
  return layer::sequence_pad<4>(frames, 0);
#endif
});

int main() { return net.parameter_count() < 0; }
