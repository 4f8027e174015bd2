// SPDX-License-Identifier: Apache-2.0
// Freezing a layer that the program does not have.
// expect-error: static.assert.*freeze: expected names of layers or parameters of the program
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  return layer::mean(layer::fc<1>(x, {.name = "output"}));
});

int main() {
#ifdef SHOULD_FAIL
  lamina::model m{lamina::transform::freeze<"out">(net)};  // <- here
#else
  lamina::model m{lamina::transform::freeze<"output">(net)};
#endif
  return m.parameter<"output.b_0">().size() != 1;
}
