// SPDX-License-Identifier: Apache-2.0
// A name that is known only at run time, in a file that goes on to use the evaluator.
// expect-error: static.assert.*name: expected a string literal, as in feed
// expect-fact: gets_type<.*string
// expect-lines: 12
#include <string>
#include <vector>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  return layer::mean(layer::fc<1>(x, {.name = "output"}));
});

int main() {
  lamina::model m{net};
  lamina::evaluator e{m};
#ifdef SHOULD_FAIL
  std::string name = "x";
  e.forward(lamina::feed<name>(std::vector<float>(4)));  // <- here
#else
  static constexpr char name[] = "x";
  e.forward(lamina::feed<name>(std::vector<float>(4)));
#endif
  return e.activation<"output">().size() == 0;
}
