// SPDX-License-Identifier: Apache-2.0
// Windows of values that are no ids.
// expect-error: static.assert.*sequence_enumerate: the input is sequences of one whole number
// expect-fact: gets_type<.*variable<float
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/sequence/ids/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto frames = layer::sequence<"frames", float, 8>(main);
  auto words = layer::sequence<"words", std::int64_t>(main);
  (void)frames, (void)words;
#ifdef SHOULD_FAIL
  return layer::sequence_enumerate<2>(frames);  // <- here
#else
  return layer::sequence_enumerate<2>(words);
#endif
});

int main() { return net.parameter_count() < 0; }
