// SPDX-License-Identifier: Apache-2.0
// A second level of sequences that have one.
// expect-error: static.assert.*sequence_expand: y holds sequences and has the level that is asked
// expect-fact: gets<1>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/sequence/expand/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 8>(main);
  auto y = layer::sequence<"y", float, 8>(main);
#ifdef SHOULD_FAIL
  return layer::sequence_expand<1>(x, y);  // <- here
#else
  return layer::sequence_expand<0>(x, y);
#endif
});

int main() { return net.parameter_count() < 0; }
