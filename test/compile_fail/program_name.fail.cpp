// SPDX-License-Identifier: Apache-2.0
// A name that nobody declared, in a record function: no more than the one error.
// expect-error[gcc]: was not declared in this scope
// expect-error[clang]: use of undeclared identifier
// expect-lines[gcc]: 5
// expect-lines[clang]: 4
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
#ifdef SHOULD_FAIL
  auto h = layer::fc<8>(y);  // <- here
#else
  auto h = layer::fc<8>(x);
#endif
  return layer::mean(layer::fc<1>(h, {.name = "output"}));
});

int main() { return net.parameter_count() < 0; }
