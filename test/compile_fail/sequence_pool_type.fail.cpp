// SPDX-License-Identifier: Apache-2.0
// The average of word ids.
// expect-error: static.assert.*sequence_pool: the input is floating point
// expect-fact: gets_type<.*tokens<
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/embedding/lookup_table/layer.hpp>
#include <lamina/operators/sequence/pool/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto words = layer::sequence<"words", std::int64_t>(main);
#ifdef SHOULD_FAIL
  return layer::sequence_pool(words);  // <- here
#else
  return layer::sequence_pool(layer::embedding<10, 4>(words));
#endif
});

int main() { return net.parameter_count() < 0; }
