// SPDX-License-Identifier: Apache-2.0
// A name that means parameters of another cost.
// expect-error: lamina: minimize: a name means parameters that the cost depends on
// expect-fact: at_line<28>, lamina::named<'g', '_'>
// The shortest path of includes to a header makes the shortest message.
// clang-format off
#include <lamina/program/program.hpp>
// clang-format on

#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/minimize.hpp>
#include <lamina/optimizer/sgd.hpp>

namespace layer = lamina::layer;

#ifdef SHOULD_FAIL
constexpr auto& updated = lamina::prefix<"d_", "g_">;
#else
constexpr auto& updated = lamina::prefix<"d_">;
#endif

struct record {
  constexpr void operator()(lamina::block& main) const {
    auto x = layer::data<"x", float, 3>(main);
    auto cost = layer::mean(layer::square(layer::fc<1>(x, {.name = "d_fc"})));
    layer::fc<2>(x, {.name = "g_fc"});
    layer::fc<2>(x);
    lamina::optimizer::sgd{.learning_rate = 0.1f}.minimize(cost, updated);
  }
};

constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.desc.count.operators > 0 ? 0 : 1; }
