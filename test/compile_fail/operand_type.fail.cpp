// SPDX-License-Identifier: Apache-2.0
// Text beside a variable.
// expect-error: static.assert.*operator: expected a variable or a number beside a variable
// expect-fact: gets_type<char ?\[2\]>
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
#ifdef SHOULD_FAIL
  auto y = 2 * x + "1";  // <- here
#else
  auto y = 2 * x + 1;
#endif
  return layer::mean(layer::fc<1>(y / 3));
});

int main() { return net.parameter_count() < 0; }
