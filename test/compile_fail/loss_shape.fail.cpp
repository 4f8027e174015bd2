// SPDX-License-Identifier: Apache-2.0
// A cost of two variables of different shape.
// expect-error: static.assert.*loss: the inputs have one shape
// expect-fact: expects_type<.*variable<float, .*batch, 1>
// expect-fact: gets_type<.*variable<float, .*batch, 2>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/loss/pointwise/layer.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 13>(main);
  auto y = layer::data<"y", float, 2>(main);
#ifdef SHOULD_FAIL
  return layer::square_error_cost(layer::fc<1>(x), y);  // <- here
#else
  return layer::square_error_cost(layer::fc<2>(x), y);
#endif
});

int main() { return net.parameter_count() < 0; }
