// SPDX-License-Identifier: Apache-2.0
// An equation of einsum without a letter for the rows.
// expect-error: static.assert.*einsum: expected .*ab,bc->ac
// expect-lines: 12
#include <lamina/layers/create_parameter.hpp>
#include <lamina/layers/data.hpp>
#include <lamina/layers/einsum.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2, 3>(main);
  auto w = layer::create_parameter<float, 3, 5>(main);
#ifdef SHOULD_FAIL
  return layer::einsum<"ij,jk->ik">(x, w);  // <- here
#else
  return layer::einsum<"bij,jk->bik">(x, w);
#endif
});

int main() { return net.parameter_count() < 0; }
