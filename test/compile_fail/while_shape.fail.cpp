// SPDX-License-Identifier: Apache-2.0
// A body that changes the shape of a variable that the loop carries.
// expect-error: static.assert.*variable: a handle keeps its element type, rows and dimensions
// expect-fact: expects_type<.*variable<float, .*batch, 4>
// expect-fact: gets_type<.*variable<float, .*batch, 5>
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto state = layer::data<"state", float, 4>(main);
  auto i = layer::fill_constant<std::int64_t>(main, 0);
  auto n = layer::fill_constant<std::int64_t>(main, 3);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](lamina::block&) {
#ifdef SHOULD_FAIL
    state = layer::fc<5>(state);  // <- here
#else
    state = layer::fc<4>(state);
#endif
    layer::increment(i);
    layer::less_than(i, n, going);
  });
  return state;
});

int main() { return net.parameter_count() < 0; }
