// SPDX-License-Identifier: Apache-2.0
// One tag a sentence where each word needs one.
// expect-error: static.assert.*linear_chain_crf: sequences of one score per tag
// expect-fact: gets_type<.*tokens<.*variable<.*batch, 1>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/loss/crf/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 5>(main);
  auto one = layer::data<"one", std::int64_t>(main);
  auto tags = layer::sequence<"tags", std::int64_t>(x);
  (void)one, (void)tags;
#ifdef SHOULD_FAIL
  return layer::linear_chain_crf(x, one);  // <- here
#else
  return layer::linear_chain_crf(x, tags);
#endif
});

int main() { return net.parameter_count() < 0; }
