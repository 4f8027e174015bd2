// SPDX-License-Identifier: Apache-2.0
// expect-error: lamina: minimize: inside of a program an optimizer's numbers are the same in each step
// expect-fact: at_line<
#include <lamina/program/program.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/minimize.hpp>
#include <lamina/optimizer/sgd.hpp>

namespace layer = lamina::layer;

constexpr lamina::schedule::piecewise_decay falling({100}, {0.1f, 0.01f});

struct record {
  constexpr void operator()(lamina::block& main) const {
    auto x = layer::data<"x", float, 3>(main);
    auto cost = layer::mean(layer::square(layer::fc<1>(x)));
#ifdef SHOULD_FAIL
    lamina::optimizer::sgd{.learning_rate = falling}.minimize(cost);
#else
    lamina::optimizer::sgd{.learning_rate = falling.values[0]}.minimize(cost);
#endif
  }
};

constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.desc.count.operators > 0 ? 0 : 1; }
