// SPDX-License-Identifier: Apache-2.0
// A value a sample for each word of its sentences: two levels at once.
// expect-error: static.assert.*sequence_expand_as: x has one row for each sequence of y
// expect-fact: gets_type<.*batch, 4>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/sequence/expand/layer_expand_as.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto topic = layer::data<"topic", float, 4>(main);
  auto words = layer::nested_sequence<"words", float, 8>(main);
  auto line = layer::sequence<"line", float, 8>(main);
#ifdef SHOULD_FAIL
  (void)line;
  return layer::sequence_expand_as(topic, words);  // <- here
#else
  (void)words;
  return layer::sequence_expand_as(topic, line);
#endif
});

int main() { return net.parameter_count() < 0; }
