// SPDX-License-Identifier: Apache-2.0
// Lengths of other rows than those to be cut.
// expect-error: static.assert.*sequence_unpad: the lengths are one number
// expect-fact: gets_type<.*tokens<
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/sequence/pad/layer_unpad.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 5, 8>(main);
  auto length = layer::data<"length", std::int64_t>(main);
  auto words = layer::sequence<"words", std::int64_t>(main);
  (void)length, (void)words;
#ifdef SHOULD_FAIL
  return layer::sequence_unpad<"kept">(x, words);  // <- here
#else
  return layer::sequence_unpad<"kept">(x, length);
#endif
});

int main() { return net.parameter_count() < 0; }
