// SPDX-License-Identifier: Apache-2.0
// A layer without parameters that is named as a later one would be.
// expect-error: static.assert.*name: two variables of one program need two names
// expect-fact: at_line<16>
// expect-fact: named<'r', 'e', 'l', 'u', '_', '0', '.', 't', 'm', 'p', '_', '0'>
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto x = layer::data<"x", float, 4>(main);
#ifdef SHOULD_FAIL
    auto h = layer::relu(x, {.name = "relu_0"});
#else
    auto h = layer::relu(x, {.name = "hidden"});
#endif
    return layer::mean(layer::relu(h));
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
