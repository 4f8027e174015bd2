// SPDX-License-Identifier: Apache-2.0
// A trainer without an optimizer.
// expect-error: static.assert.*trainer: expected a model and an optimizer, trainer t\{model, adam\}
// expect-lines: 12
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  return layer::mean(layer::fc<1>(x, {.name = "output"}));
});

int main() {
  lamina::model m{net};
#ifdef SHOULD_FAIL
  lamina::trainer t{m};  // <- here
#else
  lamina::trainer t{m, lamina::optimizer::adam{}};
#endif
  return t.cost() != 0;
}
