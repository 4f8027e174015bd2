// SPDX-License-Identifier: Apache-2.0
// A value stored between a product and the gradient that reads what it replaces, in a program that
// minimizes itself.
// expect-error: lamina: store: a gradient needs the value from before the store
// expect-fact: lamina::named<'r', 'o', 'w'>
// The shortest path of includes to a header makes the shortest message.
// clang-format off
#include <lamina/program/program.hpp>
// clang-format on

#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/minimize.hpp>
#include <lamina/optimizer/sgd.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr void operator()(lamina::block& main) const {
    auto x = layer::data<"x", float, 3>(main);
    auto row = layer::create_global_var<float, 3>(main, 1, {.name = "row"});
#ifdef SHOULD_FAIL
    auto h = layer::fc<3>(x) * row;
#else
    auto h = layer::fc<3>(x) * layer::assign(row);
#endif
    layer::store(row * 0.5f, row);
    lamina::optimizer::sgd{.learning_rate = 0.1f}.minimize(layer::mean(layer::square(h)));
    layer::store(row * 0.5f, row);
  }
};

constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.desc.count.operators > 0 ? 0 : 1; }
