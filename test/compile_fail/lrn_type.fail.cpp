// SPDX-License-Identifier: Apache-2.0
// Whole numbers are not normalised.
// expect-error: static.assert.*lrn: the images are floating point, one per row
// expect-fact: gets_type<.*int, .*batch, 8, 2, 2>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/norm/lrn/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6, 9, 9>(main);
  auto y = layer::data<"y", int, 8, 2, 2>(main);
#ifdef SHOULD_FAIL
  (void)x;
  return layer::lrn(y);  // <- here
#else
  (void)y;
  return layer::lrn(x);
#endif
});

int main() { return net.parameter_count() < 0; }
