// SPDX-License-Identifier: Apache-2.0
// A memory that becomes something of another width.
// expect-error: static.assert.*rnn: a memory is updated with a variable of its own type, rows and
// expect-fact: at_line<18>
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto x = layer::sequence<"x", float, 4>(main);
    return layer::dynamic_rnn(x, [&](auto& step) {
      auto h = step.memory(lamina::dims<4>);
      auto next = h + step.input(x);
#ifdef SHOULD_FAIL
      step.update(h, layer::fc<5>(next));
#else
      step.update(h, layer::fc<4>(next));
#endif
      return next;
    });
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
