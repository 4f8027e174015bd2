// SPDX-License-Identifier: Apache-2.0
// More heads than divide the width of values.
// expect-error: static.assert.*scaled_dot_product_attention: the number of heads divides
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/layers/scaled_dot_product_attention.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto q = layer::data<"q", float, 5, 12>(main);
  auto k = layer::data<"k", float, 7, 12>(main);
  auto v = layer::data<"v", float, 7, 8>(main);
#ifdef SHOULD_FAIL
  return layer::scaled_dot_product_attention<3>(q, k, v);  // <- here
#else
  return layer::scaled_dot_product_attention<4>(q, k, v);
#endif
});

int main() { return net.parameter_count() < 0; }
