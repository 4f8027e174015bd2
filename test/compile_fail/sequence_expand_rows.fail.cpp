// SPDX-License-Identifier: Apache-2.0
// Words repeated as if they were samples.
// expect-error: static.assert.*sequence_expand: x has one row for each item of the level of y
// expect-fact: expects_type<.*batch
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/sequence/expand/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 8>(main);
  auto y = layer::sequence<"y", float, 8>(main);
#ifdef SHOULD_FAIL
  return layer::sequence_expand(x, y);  // <- here
#else
  return layer::sequence_expand<"copies">(x, y);
#endif
});

int main() { return net.parameter_count() < 0; }
