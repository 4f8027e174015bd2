// SPDX-License-Identifier: Apache-2.0
// A value stored in each iteration of a loop whose gradient is taken behind it.
// expect-error: lamina: store: a gradient needs the value from before the store
// expect-fact: lamina::named<'r', 'a', 't', 'e'>
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
    auto rate = layer::create_global_var<float>(main, 1, {.name = "rate"});
    auto n = layer::create_global_var<float>(main, 0, {.name = "n"});
    auto sum = layer::fill_constant<float>(main, 0);
    auto step = layer::fill_constant<std::int64_t>(main, 0);
    auto end = layer::fill_constant<std::int64_t>(main, 3);
    auto going = layer::less_than(step, end);
    layer::while_loop(going, [&](lamina::block&) {
#ifdef SHOULD_FAIL
      layer::store(rate * 0.5f, rate);
#endif
      layer::store(n + 1.0f, n);
      sum = sum + rate * layer::mean(layer::square(layer::fc<1>(x)));
      layer::increment(step);
      layer::less_than(step, end, going);
    });
    lamina::optimizer::sgd{.learning_rate = 0.1f}.minimize(sum);
  }
};

constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.desc.count.operators > 0 ? 0 : 1; }
