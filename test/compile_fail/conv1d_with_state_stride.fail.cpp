// SPDX-License-Identifier: Apache-2.0
// A stride of conv1d_with_state.
// expect-error: static.assert.*conv1d_with_state: the stride is 1 and the padding 0
// expect-fact: gets<2,
// expect-lines: 12
#include <lamina/layers/conv1d.hpp>
#include <lamina/layers/data.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

#ifdef SHOULD_FAIL
constexpr int stride = 2;
#else
constexpr int stride = 1;
#endif

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2, 16>(main);
  auto past = layer::data<"past", float, 2, 2>(main);
  auto [y, next] =
      layer::conv1d_with_state<4, 3, lamina::window1{.stride = stride}>(x, past);  // <- here
  return y;
});

int main() { return net.parameter_count() < 0; }
