// SPDX-License-Identifier: Apache-2.0
// expect-error: lamina: minimize: the cost is one number
// expect-fact: expects_type<lamina::variable<float, lamina::once, 1> ?>
#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/minimize.hpp>
#include <lamina/optimizer/sgd.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto cost = layer::square(layer::fc<1>(x));
#ifdef SHOULD_FAIL
  lamina::optimizer::sgd{.learning_rate = 0.1f}.minimize(cost);  // <- here
#else
  lamina::optimizer::sgd{.learning_rate = 0.1f}.minimize(layer::mean(cost));
#endif
});

int main() { return net.desc.count.operators > 0 ? 0 : 1; }
