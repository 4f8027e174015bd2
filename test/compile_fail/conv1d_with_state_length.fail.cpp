// SPDX-License-Identifier: Apache-2.0
// A state of conv1d_with_state that is shorter than a filter looks back.
// expect-error: static.assert.*conv1d_with_state: the state has dilation
// expect-fact: expects<8>
// expect-fact: gets<4>
// expect-lines: 12
#include <lamina/layers/conv1d.hpp>
#include <lamina/layers/data.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

#ifdef SHOULD_FAIL
constexpr int before = 4;
#else
constexpr int before = 8;
#endif

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2, 16>(main);
  auto past = layer::data<"past", float, 2, before>(main);
  auto [y, next] =
      layer::conv1d_with_state<4, 3, lamina::window1{.dilation = 4}>(x, past);  // <- here
  return y;
});

int main() { return net.parameter_count() < 0; }
