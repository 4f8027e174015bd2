// SPDX-License-Identifier: Apache-2.0
// A variable that was made in a body, used behind the loop.
// expect-error: static.assert.*block: a variable is used in its own block and those inside of it
// expect-fact: named<'b', 'o', 'd', 'y', '.', 't', 'm', 'p', '_', '1'>
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto x = layer::data<"x", float, 4>(main);
    auto i = layer::fill_constant<std::int64_t>(main, 0);
    auto n = layer::fill_constant<std::int64_t>(main, 3);
    auto going = layer::less_than(i, n);
    int inside = x.id;
    layer::while_loop(going, [&](lamina::block&) {
      auto y = layer::fc<4>(x, {.name = "body"});
#ifdef SHOULD_FAIL
      inside = y.id;
#endif
      x = y;
      layer::increment(i);
      layer::less_than(i, n, going);
    });
    return layer::mean(decltype(x){main.builder, inside});
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
