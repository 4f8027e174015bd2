// SPDX-License-Identifier: Apache-2.0
// Rows cannot be taken apart, for nobody knows how many there will be.
// expect-error: static.assert.*unstack: the axis is an inner dimension, not the rows
// expect-fact: gets<0>
// expect-fact: variable<float, .*batch, 4>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/shape/concat/layer_split.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
#ifdef SHOULD_FAIL
  return layer::unstack<0>(x)[0];  // <- here
#else
  return layer::unstack<1>(x)[0];
#endif
});

int main() { return net.parameter_count() < 0; }
