// SPDX-License-Identifier: Apache-2.0
// An option that a layer of one overload does not have.
// expect-error[gcc]: use of deleted function .*no_match<lamina::layer::conv2d_attr>
// expect-error[clang]: no matching function for call to 'conv2d'
// expect-fact: conv2d_attr
// expect-errors[clang]: 2
// expect-lines[gcc]: 10
// expect-lines[clang]: 12
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1, 4, 4>(main);
#ifdef SHOULD_FAIL
  auto h = layer::conv2d<2, 3>(x, {.padding = 1});  // <- here
#else
  auto h = layer::conv2d<2, 3, lamina::window{.padding = 1}>(x);
#endif
  return layer::mean(layer::fc<1>(h, {.name = "output"}));
});

int main() {
  lamina::model m{net};
  lamina::evaluator e{m};
  e.forward(lamina::feed<"x">(std::vector<float>(16)));
  return e.activation<"output">().size() == 0;
}
