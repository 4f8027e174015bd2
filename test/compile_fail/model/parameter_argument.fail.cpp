// SPDX-License-Identifier: Apache-2.0
// The name of a parameter among the arguments.
// expect-error: static.assert.*parameter: expected the name as a template argument
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
  auto w = m.parameter("output.w_0");  // <- here
#else
  auto w = m.parameter<"output.w_0">();
#endif
  return w.size() == 0;
}
