// SPDX-License-Identifier: Apache-2.0
// The elements of a whole batch in rows of another width.
// expect-error: static.assert.*sequence_reshape: the input holds sequences of rows with one
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
  return layer::sequence_reshape<"z", 4>(y);  // <- here
#else
  (void)y;
  return layer::sequence_reshape<"z", 4>(x);
#endif
});

int main() { return net.parameter_count() < 0; }
