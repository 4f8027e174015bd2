// SPDX-License-Identifier: Apache-2.0
// A file's name where the program belongs.
// expect-error: static.assert.*model: expected a program, lamina::model m\{program\}
// expect-fact: gets_type<.*char
// expect-lines: 11
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  return layer::mean(layer::fc<1>(x, {.name = "output"}));
});

int main() {
#ifdef SHOULD_FAIL
  lamina::model m{"net.model"};  // <- here
#else
  lamina::model m{net};
#endif
  lamina::evaluator e{m};
  return e.cost() != 0;
}
