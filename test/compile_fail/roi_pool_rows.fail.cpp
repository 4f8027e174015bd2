// SPDX-License-Identifier: Apache-2.0
// One region for each image instead of a sequence of them.
// expect-error: static.assert.*roi_pool: a sequence of regions of four numbers for each image
// expect-fact: gets_type<.*batch, 6, 9, 9>, .*batch, 4>
// expect-lines: 12
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/region/roi/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6, 9, 9>(main);
  auto one = layer::data<"one", float, 4>(main);
  auto some = layer::sequence<"some", float, 4>(main);
#ifdef SHOULD_FAIL
  (void)some;
  return layer::roi_pool<2>(x, one);  // <- here
#else
  (void)one;
  return layer::roi_pool<2>(x, some);
#endif
});

int main() { return net.parameter_count() < 0; }
