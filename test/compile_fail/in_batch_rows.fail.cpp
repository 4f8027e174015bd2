// SPDX-License-Identifier: Apache-2.0
// Sides of two widths.
// expect-error: lamina: in_batch_cross_entropy: both sides are rows of one width and one real type
// expect-fact: variable<float, .*batch, 4>
#include <lamina/layers/data.hpp>
#include <lamina/operators/loss/in_batch/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
#ifdef SHOULD_FAIL
  auto y = layer::data<"y", float, 4>(main);
#else
  auto y = layer::data<"y", float, 3>(main);
#endif
  return layer::in_batch_cross_entropy(x, y);  // <- here
});

int main() { return net.desc.count.operators > 0 ? 0 : 1; }
