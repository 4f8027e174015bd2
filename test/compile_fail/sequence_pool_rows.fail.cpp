// SPDX-License-Identifier: Apache-2.0
// Pooling a value a sample, which holds no sequences.
// expect-error: static.assert.*sequence_pool: the rows of the input form sequences
// expect-fact: gets_type<.*variable<float, .*batch, 8>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/sequence/pool/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 8>(main);
  auto frames = layer::sequence<"frames", float, 8>(main);
#ifdef SHOULD_FAIL
  return layer::sequence_pool(x);  // <- here
#else
  (void)x;
  return layer::sequence_pool(frames);
#endif
});

int main() { return net.parameter_count() < 0; }
