// SPDX-License-Identifier: Apache-2.0
// The cost contains a gradient through an operator that has first derivatives alone.
// expect-error: lamina: gradients: the gradient of this operator has itself no gradient
// expect-fact: named<'n', 'o', 'r', 'm', '_', 'g', 'r', 'a', 'd'>
#include <lamina/lamina.hpp>
#include <lamina/transform/gradients.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto h = layer::fc<4>(x);
#ifdef SHOULD_FAIL
  h = layer::l2_normalize(h);
#else
  h = layer::tanh(h);
#endif
  auto [grad] = layer::gradients(h, x);
  return layer::mean(layer::square(grad));
});

int main() {
  lamina::model m{net};
  lamina::gradient_machine g{m};  // <- here
  static_cast<void>(g);
}
