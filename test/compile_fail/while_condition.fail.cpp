// SPDX-License-Identifier: Apache-2.0
// A loop whose body never assigns to the condition.
// expect-error: static.assert.*while_loop: the body writes the condition
// expect-fact: at_line<17>
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto i = layer::fill_constant<std::int64_t>(main, 0);
    auto n = layer::fill_constant<std::int64_t>(main, 3);
    auto going = layer::less_than(i, n);
    layer::while_loop(going, [&](lamina::block&) {
      layer::increment(i);
#ifdef SHOULD_FAIL
      layer::less_than(i, n);
#else
      layer::less_than(i, n, going);
#endif
    });
    return i;
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
