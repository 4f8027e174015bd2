// SPDX-License-Identifier: Apache-2.0
// One row a sample, expanded as if it were a sequence.
// expect-error: static.assert.*sequence_expand: x has one sequence for each item of the level of y;
// leave the name out expect-fact: gets_type<.*batch, 8> expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/layers/sequence_expand.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 8>(main);
  auto y = layer::sequence<"y", float, 8>(main);
#ifdef SHOULD_FAIL
  return layer::sequence_expand<"copies">(x, y);  // <- here
#else
  return layer::sequence_expand(x, y);
#endif
});

int main() { return net.parameter_count() < 0; }
