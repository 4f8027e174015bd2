// SPDX-License-Identifier: Apache-2.0
// A value for the whole batch has no rows that could get sequences.
// expect-error: static.assert.*lod_append: the input has rows
// expect-fact: gets_type<.*variable<float, .*once, 1>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/operators/sequence/shape/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 8>(main);
#ifdef SHOULD_FAIL
  return layer::lod_append<"y", 0, 1>(layer::mean(x));  // <- here
#else
  return layer::lod_append<"y", 0, 1>(x);
#endif
});

int main() { return net.parameter_count() < 0; }
