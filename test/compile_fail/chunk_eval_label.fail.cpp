// SPDX-License-Identifier: Apache-2.0
// Labels of other sequences than the tags.
// expect-error: static.assert.*chunk_eval: a positive number of types, and two tags
// expect-fact: gets<3>.*gets_type<.*tokens<
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/metric/sequence/layer_chunk_eval.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto found = layer::sequence<"found", std::int64_t>(main);
  auto label = layer::sequence<"label", std::int64_t>(found);
  auto other = layer::sequence<"other", std::int64_t>(main);
  (void)label, (void)other;
#ifdef SHOULD_FAIL
  return layer::chunk_eval<3>(found, other);  // <- here
#else
  return layer::chunk_eval<3>(found, label);
#endif
});

int main() { return net.parameter_count() < 0; }
