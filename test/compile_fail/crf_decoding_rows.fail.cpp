// SPDX-License-Identifier: Apache-2.0
// Tags of values that form no sequences.
// expect-error: static.assert.*crf_decoding: the input is sequences of one score per tag
// expect-fact: gets_type<.*batch, 5>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/loss/crf/layer_decoding.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 5>(main);
  auto one = layer::data<"one", float, 5>(main);
  (void)one, (void)x;
#ifdef SHOULD_FAIL
  return layer::crf_decoding(one);  // <- here
#else
  return layer::crf_decoding(x);
#endif
});

int main() { return net.parameter_count() < 0; }
