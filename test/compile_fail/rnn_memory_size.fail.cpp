// SPDX-License-Identifier: Apache-2.0
// The size of a memory as an argument.
// expect-error: static.assert.*rnn: a memory begins with a variable, or has its size as a template
// expect-fact: at_line<15>
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto words = layer::sequence<"words", float, 4>(main);
    auto states = layer::dynamic_rnn(words, [&](auto& step) {
#ifdef SHOULD_FAIL
      auto h = step.memory(4);
#else
      auto h = step.memory(lamina::dims<4>);
#endif
      auto next = layer::fc<4>(std::tuple{step.input(words), h});
      step.update(h, next);
      return next;
    });
    return layer::mean(layer::sequence_pool(states));
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
