// SPDX-License-Identifier: Apache-2.0
// A matrix product whose inner dimensions differ.
// expect-error: static.assert.*matmul: the width of the left side
// expect-fact: expects<128>
// expect-fact: gets<64>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/fill/layer.hpp>
#include <lamina/operators/matrix/matmul/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 128>(main);
  auto w = layer::fill_constant<float, 64, 128>(main, 0.5);
#ifdef SHOULD_FAIL
  return layer::matmul(x, w);  // <- here
#else
  return layer::matmul<layer::matmul_form{.transpose_y = true}>(x, w);
#endif
});

int main() { return net.parameter_count() < 0; }
