// SPDX-License-Identifier: Apache-2.0
// The cosine of rows of two widths.
// expect-error: static.assert.*cos_sim: both sides are rows of one width
// expect-fact: variable<float, .*batch, 128>
// expect-fact: variable<float, .*batch, 64>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/norm/cos_sim/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto a = layer::data<"a", float, 128>(main);
  auto b = layer::data<"b", float, 64>(main);
#ifdef SHOULD_FAIL
  return layer::cos_sim(a, b);  // <- here
#else
  return layer::cos_sim(a, layer::fc<128>(b));
#endif
});

int main() { return net.parameter_count() < 0; }
