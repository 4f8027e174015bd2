// SPDX-License-Identifier: Apache-2.0
// The sequences of something that has none.
// expect-error: static.assert.*lod_reset: x has rows, and y holds sequences
// expect-fact: gets_type<.*batch, 8>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/sequence/shape/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 8>(main);
  auto y = layer::data<"y", float, 8>(main);
#ifdef SHOULD_FAIL
  return layer::lod_reset(x, y);  // <- here
#else
  return layer::lod_reset(y, x);
#endif
});

int main() { return net.parameter_count() < 0; }
