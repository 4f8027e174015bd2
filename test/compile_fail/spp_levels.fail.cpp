// SPDX-License-Identifier: Apache-2.0
// More windows than rows.
// expect-error: static.assert.*spp: floating point images, one per row, from which each window
// expect-fact: gets<5>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/region/patch/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6, 9, 9>(main);
#ifdef SHOULD_FAIL
  return layer::spp<5>(x);  // <- here
#else
  return layer::spp<2>(x);
#endif
});

int main() { return net.parameter_count() < 0; }
