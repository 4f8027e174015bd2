// SPDX-License-Identifier: Apache-2.0
// Variables joined that differ in another dimension as well.
// expect-error: static.assert.*concat: the inputs differ in the dimension of the axis only
// expect-fact: variable<float, .*batch, 4, 6>
// expect-fact: variable<float, .*batch, 3, 5>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/shape/concat/layer_concat.hpp>
#include <lamina/operators/shape/reshape/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4, 6>(main);
  auto y = layer::data<"y", float, 3, 5>(main);
#ifdef SHOULD_FAIL
  return layer::concat<2>(std::tuple{x, y});  // <- here
#else
  return layer::concat<2>(std::tuple{x, layer::reshape<4, -1>(layer::fc<20>(y))});
#endif
});

int main() { return net.parameter_count() < 0; }
