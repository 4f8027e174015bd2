// SPDX-License-Identifier: Apache-2.0
// A program with a branch on several threads.
// expect-error: static.assert.*loops_on_threads: a program with loops or branches runs on one
// expect-lines: 12
#include <lamina/lamina.hpp>
#include <lamina/model/evaluation/loops_on_threads.hpp>

namespace layer = lamina::layer;

template <bool Loops>
constexpr auto recorded = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 8>(main);
  auto h = layer::fc<8>(x);
  if constexpr (Loops) {
    auto i = layer::fill_constant<std::int64_t>(main, 0);
    auto n = layer::fill_constant<std::int64_t>(main, 3);
    auto going = layer::less_than(i, n);
    layer::while_loop(going, [&](lamina::block&) {
      h = layer::relu(h);
      layer::increment(i);
      layer::less_than(i, n, going);
    });
  }
  return layer::fc<4>(h, {.name = "output"});
});

#ifdef SHOULD_FAIL
constexpr bool loops = true;
#else
constexpr bool loops = false;
#endif

int main() {
  lamina::model m{recorded<loops>};
  lamina::evaluator e{m};
  lamina::worker_pool pool(2);
  lamina::loops_on_threads on_two(e, pool);  // <- here
}
