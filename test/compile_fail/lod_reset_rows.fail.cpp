// SPDX-License-Identifier: Apache-2.0
// Sequences over the rows of a number that has none.
// expect-error: static.assert.*lod_reset: the input has rows
// expect-fact: gets_type<.*once, 1>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/operators/sequence/shape/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 8>(main);
#ifdef SHOULD_FAIL
  return layer::lod_reset<"y", 0, 1>(layer::mean(x));  // <- here
#else
  return layer::lod_reset<"y", 0, 1>(x);
#endif
});

int main() { return net.parameter_count() < 0; }
