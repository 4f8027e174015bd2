// SPDX-License-Identifier: Apache-2.0
// Lengths where offsets are needed.
// expect-error: static.assert.*lod_append: offsets begin with 0 and never descend
// expect-fact: gets<1, 2>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/sequence/shape/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 8>(main);
#ifdef SHOULD_FAIL
  return layer::lod_append<"y", 1, 2>(x);  // <- here
#else
  return layer::lod_append<"y", 0, 1, 3>(x);
#endif
});

int main() { return net.parameter_count() < 0; }
