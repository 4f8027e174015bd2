// SPDX-License-Identifier: Apache-2.0
// A fully connected layer with its width among the arguments.
// expect-error: static.assert.*fc: expected the width as a template argument.*found none
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
#ifdef SHOULD_FAIL
  auto hidden = layer::fc(x, 8, {.act = lamina::activation::relu});  // <- here
#else
  auto hidden = layer::fc<8>(x, {.act = lamina::activation::relu});
#endif
  return layer::mean(layer::fc<1>(hidden));
});

int main() { return net.parameter_count() < 0; }
