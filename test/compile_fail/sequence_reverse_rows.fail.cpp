// SPDX-License-Identifier: Apache-2.0
// The samples of a batch in reverse order.
// expect-error: static.assert.*sequence_reverse: the rows of the input form sequences
// expect-fact: gets_type<.*batch, 8>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/sequence/shape/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 8>(main);
  auto y = layer::data<"y", float, 8>(main);
#ifdef SHOULD_FAIL
  (void)x;
  return layer::sequence_reverse(y);  // <- here
#else
  (void)y;
  return layer::sequence_reverse(x);
#endif
});

int main() { return net.parameter_count() < 0; }
