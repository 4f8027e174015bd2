// SPDX-License-Identifier: Apache-2.0
// expect-error: lamina: minimize: inside of a program an optimizer's own numbers are the same in
// expect-fact: each step
// expect-fact: gets_type<.*adamw>
#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/optimizer/adamw.hpp>
#include <lamina/optimizer/minimize.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto cost = layer::mean(layer::square(layer::fc<1>(x)));
#ifdef SHOULD_FAIL
  lamina::optimizer::adamw{.learning_rate = 0.1f}.minimize(cost);  // <- here
#else
  lamina::optimizer::adam{.learning_rate = 0.1f}.minimize(cost);
#endif
});

int main() { return net.desc.count.operators > 0 ? 0 : 1; }
