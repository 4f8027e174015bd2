// SPDX-License-Identifier: Apache-2.0
// Something else than a seed behind the program.
// expect-error: static.assert.*model: expected a seed after the program
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
  lamina::model m{net, "seed"};  // <- here
#else
  lamina::model m{net, 7};
#endif
  lamina::evaluator e{m};
  return e.activation<"output">().size() != 0;
}
