// SPDX-License-Identifier: Apache-2.0
// Copies of sequences that have the name of other rows of y.
// expect-error: static.assert.*sequence_expand: the copies are sequences of their own: y has this
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

#ifdef SHOULD_FAIL
constexpr lamina::fixed_string name("words");
#else
constexpr lamina::fixed_string name("copies");
#endif

constexpr auto net = lamina::program([](lamina::block& main) {
  auto topic = layer::sequence<"topic", float, 3>(main);
  auto words = layer::nested_sequence<"words", float, 3>(main);
  return layer::mean(layer::sequence_expand<name, 0>(topic, words));  // <- here
});

int main() { return net.parameter_count() < 0; }
