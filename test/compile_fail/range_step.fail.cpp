// SPDX-License-Identifier: Apache-2.0
// Steps that lead away from the end.
// expect-error: static.assert.*range: steps lead from the start towards the end
// expect-fact: gets<0, 10, -1>
// expect-lines: 12
#include <lamina/operators/shape/query/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
#ifdef SHOULD_FAIL
  return layer::range<0, 10, -1>(main);  // <- here
#else
  return layer::range<0, 10, 1>(main);
#endif
});

int main() { return net.parameter_count() < 0; }
