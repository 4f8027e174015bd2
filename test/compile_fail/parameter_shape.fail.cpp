// SPDX-License-Identifier: Apache-2.0
// Two layers that share a parameter and need two shapes.
// expect-error: static.assert.*parameter: layers that share a parameter need one shape
// expect-fact: at_line<23>
// expect-fact: named<'s', 'h', 'a', 'r', 'e', 'd'>
// expect-fact: expects<64, 32>
// expect-fact: gets<128, 32>
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto a = layer::data<"a", float, 64>(main);
#ifdef SHOULD_FAIL
    auto b = layer::data<"b", float, 128>(main);
#else
    auto b = layer::data<"b", float, 64>(main);
#endif
    auto left = layer::fc<32>(a, {.param = {.name = "shared"}});
    auto right = layer::fc<32>(b, {.param = {.name = "shared"}});
    return layer::cos_sim(left, right);
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
