// SPDX-License-Identifier: Apache-2.0
// A step that returns nothing.
// expect-error: static.assert.*rnn: a step returns variables, one or a tuple of them
// expect-fact: at_line<14>
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto x = layer::sequence<"x", float, 4>(main);
    return layer::dynamic_rnn(x, [&](auto& step) {
      auto h = step.memory(lamina::dims<4>);
      step.update(h, h + step.input(x));
#ifndef SHOULD_FAIL
      return h;
#endif
    });
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
