// SPDX-License-Identifier: Apache-2.0
// Two layers that share a parameter and say different things of it. PaddlePaddle/Paddle#12648.
// expect-error: static.assert.*parameter: layers that share a parameter give it the same
// expect-fact: at_line<25>
// expect-fact: at_line<19>
// expect-fact: named<'s', 'h', 'a', 'r', 'e', 'd'>
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

// clang-format off
struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto a = layer::data<"a", float, 64>(main);
    lamina::param_attr shared{.name = "shared", .learning_rate = 2};
    auto same = shared, name = lamina::param_attr{.name = "shared"};
    auto left = layer::fc<32>(a, {.param = shared});
    auto more = layer::cos_sim(layer::fc<32>(a, {.param = same}),
                               layer::fc<32>(a, {.param = name}));
#ifdef SHOULD_FAIL
    shared.trainable = false;
#endif
    auto right = layer::fc<32>(a, {.param = shared});
    return std::tuple{layer::cos_sim(left, right), more};
  }
};
// clang-format on
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
