// SPDX-License-Identifier: Apache-2.0
// A time step that takes nothing.
// expect-error: static.assert.*dynamic_rnn: the step takes its inputs
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto zero = layer::fill_constant<float>(main, 0.f), mean = layer::mean(x);
  auto words = layer::sequence<"words", float, 4>(main);
  auto mask = layer::greater_than(layer::fc<1>(x), layer::fc<1>(x));
  auto positive = layer::greater_than(mean, zero);
#ifdef SHOULD_FAIL
  auto states = layer::dynamic_rnn(words, [&] { return words; });  // <- here
#else
  auto states = layer::dynamic_rnn(words, [&](auto& step) { return step.input(words); });
#endif
  words = states;
  return std::tuple{mean, layer::fc<1>(words), layer::cast<float>(mask), positive};
});

int main() { return net.parameter_count() < 0; }
