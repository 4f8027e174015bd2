// SPDX-License-Identifier: Apache-2.0
// The operator + on shapes that do not fit.
// expect-error: static.assert.*elementwise: shapes do not broadcast: from the last
// expect-fact: variable<float, .*batch, 128>
// expect-fact: variable<float, .*batch, 64>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/elementwise/binary/layer_arithmetic.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 128>(main);
  auto y = layer::data<"y", float, 64>(main);
#ifdef SHOULD_FAIL
  return x + y;  // <- here
#else
  return x + layer::fc<128>(y);
#endif
});

int main() { return net.parameter_count() < 0; }
