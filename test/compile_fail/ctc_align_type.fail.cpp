// SPDX-License-Identifier: Apache-2.0
// Collapsing scores instead of classes.
// expect-error: static.assert.*ctc_align: the input is sequences of one whole number
// expect-fact: gets_type<.*variable<float
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/loss/ctc/layer_greedy_decoder.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 5>(main);
#ifdef SHOULD_FAIL
  return layer::ctc_align<"labels">(x);  // <- here
#else
  return layer::ctc_greedy_decoder<"labels">(x);
#endif
});

int main() { return net.parameter_count() < 0; }
