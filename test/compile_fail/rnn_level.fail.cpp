// SPDX-License-Identifier: Apache-2.0
// Words of sentences have two levels of sequences.
// expect-error: static.assert.*dynamic_rnn: the level is one of the levels of the input
// expect-fact: gets<2>
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto words = layer::nested_sequence<"words", float, 4>(main);
  const auto step = [&](auto& now) { return layer::sequence_pool(now.input(words)); };
#ifdef SHOULD_FAIL
  auto pooled = layer::dynamic_rnn<2>(words, step);  // <- here
#else
  auto pooled = layer::dynamic_rnn<0>(words, step);
#endif
  return layer::mean(pooled);
});

int main() { return net.parameter_count() < 0; }
