// SPDX-License-Identifier: Apache-2.0
// A letter of einsum that has two extents.
// expect-error: static.assert.*einsum: a letter has the same extent in both operands
// expect-fact: variable<float, .*batch, 2, 3>
// expect-fact: variable<float, .*once, 4, 5>
// expect-lines: 12
#include <lamina/layers/create_parameter.hpp>
#include <lamina/layers/data.hpp>
#include <lamina/layers/einsum.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2, 3>(main);
#ifdef SHOULD_FAIL
  auto w = layer::create_parameter<float, 4, 5>(main);
  return layer::einsum<"bij,jk->bik">(x, w);  // <- here
#else
  auto w = layer::create_parameter<float, 3, 5>(main);
  return layer::einsum<"bij,jk->bik">(x, w);
#endif
});

int main() { return net.parameter_count() < 0; }
