// SPDX-License-Identifier: Apache-2.0
// A value stored between a product and its gradient, in a program that a trainer trains.
// expect-error: lamina: store: a gradient needs the value from before the store
// expect-fact: lamina::named<'r', 'o', 'w'>
// The shortest path of includes to a header makes the shortest message.
// clang-format off
#include <lamina/train/passes/minibatch_check.hpp>
// clang-format on

#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/train/trainer.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto row = layer::create_global_var<float, 3>(main, 1, {.name = "row"});
#ifdef SHOULD_FAIL
  auto h = layer::fc<3>(x) * row;
#else
  auto h = layer::fc<3>(x) * layer::assign(row);
#endif
  layer::store(row * 0.5f, row);
  return layer::mean(layer::square(h));
});

int main() {
  lamina::model m{net};
  lamina::optimizer::sgd sgd{.learning_rate = 0.1f};
  lamina::trainer t{m, sgd};  // <- here
}
