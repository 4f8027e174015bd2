// SPDX-License-Identifier: Apache-2.0
// A value of another shape than the variable's.
// expect-error: lamina: store: a variable keeps its element type, rows and dimensions
// expect-fact: expects_type<.*variable<float, .*once, 3>
// The shortest path of includes to a header makes the shortest message.
// clang-format off
#include <lamina/program/program.hpp>
// clang-format on

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto w = layer::create_global_var<float, 3>(main, 0);
#ifdef SHOULD_FAIL
  layer::store(layer::fill_constant<float>(main, 1), w);  // <- here
#else
  layer::store(layer::fill_constant<float, 3>(main, 1), w);
#endif
});

int main() { return net.desc.count.operators > 0 ? 0 : 1; }
