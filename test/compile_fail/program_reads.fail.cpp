// SPDX-License-Identifier: Apache-2.0
// A record function that reads a variable that has no value while the compiler runs it. The
// compilers' own notes, which alone name the variable, take 14 and 17 lines; each function between
// would take three more.
//
// expect-error[gcc]: called in a constant expression
// expect-error[clang]: (is not an integral|must be initialized by a) constant expression
// expect-fact: rate
// expect-errors[gcc]: 2
// expect-lines[gcc]: 14
// expect-lines[clang]: 17
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

#ifdef SHOULD_FAIL
float rate = 0.5f;
#else
constexpr float rate = 0.5f;
#endif

constexpr auto record = [](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  return layer::mean(layer::fc<1>(layer::dropout(x, rate), {.name = "output"}));
};
constexpr auto net = lamina::program(record);  // <- here

int main() { return net.parameter_count() != 0; }
