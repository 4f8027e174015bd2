// SPDX-License-Identifier: Apache-2.0
// A norm of whole numbers.
// expect-error: static.assert.*l1_norm, squared_l2_norm: the input is floating point
// expect-fact: variable<.*, .*batch, 4>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/reduce/squared_l2/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto n = layer::data<"n", std::int64_t, 4>(main);
  auto x = layer::data<"x", float, 4>(main);
#ifdef SHOULD_FAIL
  return (void)x, layer::squared_l2_norm(n);  // <- here
#else
  return (void)n, layer::squared_l2_norm(x);
#endif
});

int main() { return net.parameter_count() < 0; }
