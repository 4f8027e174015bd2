// SPDX-License-Identifier: Apache-2.0
// Decoding scores that form no sequences.
// expect-error: static.assert.*ctc_greedy_decoder: the input is sequences of one score per class
// expect-fact: gets_type<.*batch, 5>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/loss/ctc/layer_greedy_decoder.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 5>(main);
  auto one = layer::data<"one", float, 5>(main);
  (void)one, (void)x;
#ifdef SHOULD_FAIL
  return layer::ctc_greedy_decoder<"labels">(one);  // <- here
#else
  return layer::ctc_greedy_decoder<"labels">(x);
#endif
});

int main() { return net.parameter_count() < 0; }
