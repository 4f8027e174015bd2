// SPDX-License-Identifier: Apache-2.0
// A memory that no step updates.
// expect-error: static.assert.*rnn: each memory of a step is updated, and nothing else is
// expect-fact: at_line<15>
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/rnn/layer_dynamic.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto x = layer::sequence<"x", float, 4>(main);
    return layer::dynamic_rnn(x, [&](auto& step) {
      auto h = step.memory(lamina::dims<4>);
      auto next = h + step.input(x);
#ifndef SHOULD_FAIL
      step.update(h, next);
#endif
      return next;
    });
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
