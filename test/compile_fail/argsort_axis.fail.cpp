// SPDX-License-Identifier: Apache-2.0
// An order along a dimension that there is not.
// expect-error: static.assert.*layer: the axis is a dimension of the input
// expect-fact: gets<2>
// expect-fact: variable<float, .*batch, 4>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/order/argsort/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
#ifdef SHOULD_FAIL
  return std::get<1>(layer::argsort<2>(x));  // <- here
#else
  return std::get<1>(layer::argsort<1>(x));
#endif
});

int main() { return net.parameter_count() < 0; }
