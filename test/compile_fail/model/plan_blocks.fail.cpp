// SPDX-License-Identifier: Apache-2.0
// A program with a loop, given to the engine.
// expect-error: static.assert.*plan: the engine runs programs without loops and branches only
// expect-lines: 14
#include <lamina/layers/layers.hpp>
#include <lamina/plan/plan.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
#ifdef SHOULD_FAIL
  auto i = layer::fill_constant<std::int64_t>(main, 0);
  auto n = layer::fill_constant<std::int64_t>(main, 3);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](lamina::block&) {
    x = layer::fc<4>(x);
    layer::increment(i);
    layer::less_than(i, n, going);
  });
#endif
  return layer::mean(x);
});

int main() { return lamina::plan<std::remove_const_t<decltype(net)>>::groups < 0; }  // <- here
