// SPDX-License-Identifier: Apache-2.0
// A record function that calls what the compiler cannot run.
// expect-error[gcc]: called in a constant expression
// expect-error[clang]: (is not an integral|must be initialized by a) constant expression
// expect-fact: rand
// expect-errors[gcc]: 2
// expect-lines[gcc]: 18
// expect-lines[clang]: 17
#include <cstdlib>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto record = [](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
#ifdef SHOULD_FAIL
  auto h = layer::dropout(x, static_cast<float>(rand()) / 100);
#else
  auto h = layer::dropout(x, 0.5f);
#endif
  return layer::mean(layer::fc<1>(h, {.name = "output"}));
};
constexpr auto net = lamina::program(record);  // <- here

int main() { return net.parameter_count() != 0; }
