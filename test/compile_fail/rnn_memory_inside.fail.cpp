// SPDX-License-Identifier: Apache-2.0
// A first memory that is made inside of the step, where it would be made anew each time.
// expect-error: static.assert.*dynamic_rnn: a static input or first memory has one value for each sequence
// expect-fact: at_line<21>
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto x = layer::data<"x", float, 4>(main);
    auto zero = layer::fill_constant<float>(main, 0.f), mean = layer::mean(x);
    auto words = layer::sequence<"words", float, 4>(main);
    auto mask = layer::greater_than(layer::fc<1>(x), layer::fc<1>(x));
    auto positive = layer::greater_than(mean, zero);
#ifdef SHOULD_FAIL
    auto states = layer::dynamic_rnn(words, [&](auto& step) {
      auto word = step.input(words);
      auto h = step.memory(layer::fc<4>(word));
      step.update(h, h + word);
      return h;
    });
#else
    auto states = layer::dynamic_rnn(words, [&](auto& step) {
      auto word = step.input(words);
      auto h = step.memory(x);
      step.update(h, h + word);
      return h;
    });
#endif
    words = states;
    return std::tuple{mean, layer::fc<1>(words), layer::cast<float>(mask), positive};
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
