// SPDX-License-Identifier: Apache-2.0
// A layer that there is not, in a file that goes on to use the program.
// expect-error: (no member named 'dense'|‘dense’ is not a member)
// expect-errors[clang]: 2
// expect-lines[gcc]: 4
// expect-lines[clang]: 12
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
#ifdef SHOULD_FAIL
  auto h = layer::dense<8>(x);  // <- here
#else
  auto h = layer::fc<8>(x);
#endif
  return layer::mean(layer::fc<1>(h, {.name = "output"}));
});

int main() {
  lamina::model m{net};
  lamina::evaluator e{m};
  e.forward(lamina::feed<"x">(std::vector<float>(4)));
  return e.activation<"output">().size() == 0;
}
