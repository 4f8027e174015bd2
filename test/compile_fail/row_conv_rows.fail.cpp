// SPDX-License-Identifier: Apache-2.0
// Samples of a batch that look ahead.
// expect-error: static.assert.*row_conv: the input holds sequences of floating point rows
// expect-fact: gets_type<.*batch, 8>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/sequence/conv/layer_row_conv.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 8>(main);
  auto y = layer::data<"y", float, 8>(main);
#ifdef SHOULD_FAIL
  (void)x;
  return layer::row_conv<2>(y);  // <- here
#else
  (void)y;
  return layer::row_conv<2>(x);
#endif
});

int main() { return net.parameter_count() < 0; }
