// SPDX-License-Identifier: Apache-2.0
// Branches that return variables of different width.
// expect-error: static.assert.*if_else: both branches return the same types
// expect-fact: expects_type<.*variable<float, .*batch, 5>
// expect-fact: gets_type<.*variable<float, .*batch, 6>
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/split_merge/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

#ifdef SHOULD_FAIL
constexpr int width = 6;
#else
constexpr int width = 5;
#endif

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto chosen = layer::data<"chosen", bool>(main);
  return layer::if_else(  // <- here
      chosen, [&](auto& yes) { return layer::fc<5>(yes.input(x)); },
      [&](auto& no) { return layer::fc<width>(no.input(x)); });
});

int main() { return net.parameter_count() < 0; }
