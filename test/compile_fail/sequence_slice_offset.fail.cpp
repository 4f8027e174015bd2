// SPDX-License-Identifier: Apache-2.0
// One offset a word where one a sentence is needed.
// expect-error: static.assert.*sequence_slice: the input holds sequences, offset and length one
// expect-fact: whole number for each
// expect-fact: gets_type<.*tokens<
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/sequence/shape/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 8>(main);
  auto each = layer::sequence<"each", std::int64_t>(x);
  auto n = layer::data<"n", std::int64_t>(main);
#ifdef SHOULD_FAIL
  return layer::sequence_slice<"part">(x, each, n);  // <- here
#else
  (void)each;
  return layer::sequence_slice<"part">(x, n, n);
#endif
});

int main() { return net.parameter_count() < 0; }
