// SPDX-License-Identifier: Apache-2.0
// Sequences as long as those of a variable that holds none.
// expect-error: static.assert.*sequence: the variable whose lengths are to be used holds sequences
// expect-fact: gets_type<.*variable<float, .*batch, 8>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 8>(main);
  auto words = layer::sequence<"words", std::int64_t>(main);
#ifdef SHOULD_FAIL
  return layer::sequence<"tags", std::int64_t>(x);  // <- here
#else
  (void)x;
  return layer::sequence<"tags", std::int64_t>(words);
#endif
});

int main() { return net.parameter_count() < 0; }
