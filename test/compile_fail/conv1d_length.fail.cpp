// SPDX-License-Identifier: Apache-2.0
// A filter of conv1d that is longer than the data.
// expect-error: static.assert.*conv1d: a filter fits into the padded length
// expect-fact: expects<9>
// expect-fact: gets<8>
// expect-lines: 12
#include <lamina/layers/conv1d.hpp>
#include <lamina/layers/data.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2, 8>(main);
#ifdef SHOULD_FAIL
  return layer::conv1d<4, 3, lamina::window1{.dilation = 4}>(x);  // <- here
#else
  return layer::conv1d<4, 3, lamina::window1{.dilation = 3}>(x);
#endif
});

int main() { return net.parameter_count() < 0; }
