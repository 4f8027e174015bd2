// SPDX-License-Identifier: Apache-2.0
// A box that ends behind the input.
// expect-error: static.assert.*crop: the box lies inside of the input and has its rows
// expect-fact: gets<3, 2>
// expect-fact: variable<float, .*batch, 4, 4>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/shape/concat/layer_crop.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4, 4>(main);
#ifdef SHOULD_FAIL
  return layer::crop<layer::offsets<0, 2, 2>, 3, 2>(x);  // <- here
#else
  return layer::crop<layer::offsets<0, 1, 2>, 3, 2>(x);
#endif
});

int main() { return net.parameter_count() < 0; }
