// SPDX-License-Identifier: Apache-2.0
// expect-error: lamina: minimize: the cost is a variable of the block that minimize is in
// expect-fact: at_line<
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
    auto step = layer::fill_constant<std::int64_t>(main, 0);
    auto end = layer::fill_constant<std::int64_t>(main, 3);
    auto going = layer::less_than(step, end);
#ifdef SHOULD_FAIL
    auto cost = layer::mean(layer::square(layer::fc<1>(x)));
#endif
    layer::while_loop(going, [&](lamina::block&) {
#ifndef SHOULD_FAIL
      auto cost = layer::mean(layer::square(layer::fc<1>(x)));
#endif
      lamina::optimizer::sgd{.learning_rate = 0.1f}.minimize(cost);
      layer::increment(step);
      layer::less_than(step, end, going);
    });
  }
};

constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.desc.count.operators > 0 ? 0 : 1; }
