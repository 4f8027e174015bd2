// SPDX-License-Identifier: Apache-2.0
// Sequences whose lengths have nothing to do with each other.
// expect-error: static.assert.*elementwise: both operands have the same rows
// expect-fact: expects_type<.*variable<float, .*tokens<
// expect-fact: gets_type<.*variable<float, .*tokens<
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/elementwise/binary/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"source", float, 64>(main);
  auto y = layer::sequence<"target", float, 64>(main);
#ifdef SHOULD_FAIL
  return layer::elementwise_add(x, y);  // <- here
#else
  return layer::elementwise_add(x, x), layer::elementwise_mul(y, y);
#endif
});

int main() { return net.parameter_count() < 0; }
