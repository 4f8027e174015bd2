// SPDX-License-Identifier: Apache-2.0
// Labels of other sequences.
// expect-error: static.assert.*crf_decoding: sequences of one score per tag, and one label
// expect-fact: gets_type<.*tokens<
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/loss/crf/layer_decoding.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 5>(main);
  auto other = layer::sequence<"other", std::int64_t>(main);
  auto tags = layer::sequence<"tags", std::int64_t>(x);
  (void)other, (void)tags;
#ifdef SHOULD_FAIL
  return layer::crf_decoding(x, other);  // <- here
#else
  return layer::crf_decoding(x, tags);
#endif
});

int main() { return net.parameter_count() < 0; }
