// SPDX-License-Identifier: Apache-2.0
// A new shape of another size.
// expect-error: static.assert.*reshape: the new shape has as many elements
// expect-fact: gets<5, 5>
// expect-fact: variable<float, .*batch, 24>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/shape/reshape/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 24>(main);
#ifdef SHOULD_FAIL
  return layer::reshape<5, 5>(x);  // <- here
#else
  return layer::reshape<4, 6>(x);
#endif
});

int main() { return net.parameter_count() < 0; }
