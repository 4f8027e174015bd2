// SPDX-License-Identifier: Apache-2.0
// An option that a memory does not have. clang 14 adds an error of three lines.
// expect-error[gcc]: cannot convert .*memory_attr
// expect-error[clang]: no matching member function for call to 'memory'
// expect-fact: memory_attr
// expect-errors[clang]: 2
// expect-lines[gcc]: 12
// expect-lines[clang]: 15
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  using lamina::dims, layer::dynamic_rnn;
  auto x = layer::sequence<"x", float, 4>(main);
  const auto run = [&](auto& step, auto m) {
    auto y = layer::fc<4>(std::tuple{step.input(x), m});
    step.update(m, y);
    return y;
  };
#ifdef SHOULD_FAIL
  auto h = dynamic_rnn(x, [&](auto& s) { return run(s, s.memory(dims<4>, {.a = 1})); });  // <- here
#else
  auto h = dynamic_rnn(x, [&](auto& s) { return run(s, s.memory(dims<4>, {.value = 1})); });
#endif
  return layer::mean(layer::sequence_pool(h));
});

int main() { return net.parameter_count() < 0; }
