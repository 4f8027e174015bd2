// SPDX-License-Identifier: Apache-2.0
// Erasing labels, which form no sequences.
// expect-error: static.assert.*sequence_erase: the input is sequences of one whole number
// expect-fact: gets_type<.*batch, 1>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/sequence/ids/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto label = layer::data<"label", std::int64_t>(main);
  auto words = layer::sequence<"words", std::int64_t>(main);
  (void)label, (void)words;
#ifdef SHOULD_FAIL
  return layer::sequence_erase<"cleaned">(label, {0});  // <- here
#else
  return layer::sequence_erase<"cleaned">(words, {0});
#endif
});

int main() { return net.parameter_count() < 0; }
