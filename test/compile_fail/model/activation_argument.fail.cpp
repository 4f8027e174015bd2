// SPDX-License-Identifier: Apache-2.0
// The name of an activation among the arguments.
// expect-error: static.assert.*activation: expected the name as a template argument
// expect-lines: 12
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  return layer::mean(layer::fc<1>(x, {.name = "output"}));
});

int main() {
  lamina::model m{net};
  lamina::evaluator e{m};
#ifdef SHOULD_FAIL
  auto y = e.activation("output");  // <- here
#else
  auto y = e.activation<"output">();
#endif
  return y(0, 0) != 0;
}
