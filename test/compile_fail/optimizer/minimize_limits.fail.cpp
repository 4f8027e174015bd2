// SPDX-License-Identifier: Apache-2.0
// expect-error: lamina: minimize: clip_by_global_norm has one limit for all parameters
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
    lamina::param_attr other{};
#ifdef SHOULD_FAIL
    other.gradient_clip = lamina::clip_by_global_norm(2.f);
#else
    other.gradient_clip = lamina::clip_by_norm(2.f);
#endif
    auto cost = layer::mean(layer::square(layer::fc<1>(x, {.param = other})));
    lamina::optimizer::sgd{.learning_rate = 0.1f, .clip = lamina::clip_by_global_norm(1.f)}
        .minimize(cost);
  }
};

constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.desc.count.operators > 0 ? 0 : 1; }
