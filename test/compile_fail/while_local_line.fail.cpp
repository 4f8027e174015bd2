// SPDX-License-Identifier: Apache-2.0
// A handle of a body, kept behind the loop: the message has the line of the layer that takes it.
// expect-error: static.assert.*block: a variable is used in its own block and those inside of it
// expect-fact: at_line<32>
// expect-fact: named<'b', 'o', 'd', 'y', '.', 't', 'm', 'p', '_', '1'>
// expect-lines: 12
#include <optional>

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
    std::optional<decltype(x)> kept = x;
    layer::while_loop(going, [&](lamina::block&) {
      auto y = layer::fc<4>(x, {.name = "body"});
#ifdef SHOULD_FAIL
      kept.emplace(y);
#else
      x = y;
#endif
      layer::increment(i);
      layer::less_than(i, n, going);
    });
    auto twice = layer::scale(*kept, 2);
    return layer::mean(layer::fc<3>(twice));
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
