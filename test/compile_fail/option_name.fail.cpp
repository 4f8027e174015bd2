// SPDX-License-Identifier: Apache-2.0
// An option that fc does not have, in a file that goes on to use the program: one error.
// expect-error[gcc]: use of deleted function .*no_match<lamina::layer::fc_attr>
// expect-error[clang]: no matching function for call to 'fc'
// expect-fact: fc_attr
// expect-errors[clang]: 2
// expect-lines[gcc]: 10
// expect-lines[clang]: 12
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
#ifdef SHOULD_FAIL
  auto h = layer::fc<8>(x, {.activation = lamina::activation::relu});  // <- here
#else
  auto h = layer::fc<8>(x, {.act = lamina::activation::relu});
#endif
  return layer::mean(layer::fc<1>(h, {.name = "output"}));
});

int main() {
  lamina::model m{net};
  lamina::evaluator e{m};
  e.forward(lamina::feed<"x">(std::vector<float>(4)));
  return e.activation<"output">().size() == 0;
}
