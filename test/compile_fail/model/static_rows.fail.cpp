// SPDX-License-Identifier: Apache-2.0
// A static evaluator without rows.
// expect-error: static.assert.*static_evaluator: at least one row
// expect-lines: 12
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 8>(main);
  return layer::fc<4>(x, {.name = "y"});
});

#ifdef SHOULD_FAIL
constexpr int rows = 0;
#else
constexpr int rows = 1;
#endif

int main() {
  static lamina::static_evaluator<decltype(net), rows> e;  // <- here
  e.forward();
}
