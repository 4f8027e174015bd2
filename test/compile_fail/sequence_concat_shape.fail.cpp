// SPDX-License-Identifier: Apache-2.0
// Sequences with rows of two widths, one behind the other.
// expect-error: static.assert.*sequence_concat: the inputs are sequences of the same rows
// expect-fact: gets_type<.*, 4>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/sequence/shape/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 8>(main);
  auto y = layer::sequence<"y", float, 4>(main);
#ifdef SHOULD_FAIL
  return layer::sequence_concat<"both">(std::tuple{x, y});  // <- here
#else
  return layer::sequence_concat<"both">(std::tuple{x, layer::fc<8>(y)});
#endif
});

int main() { return net.parameter_count() < 0; }
