// SPDX-License-Identifier: Apache-2.0
// A parameter whose name is made, and reads as that of an earlier one.
// expect-error: static.assert.*name: two variables of one program need two names
// expect-fact: named<'h', '.', 'w', '_', '0'>
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto image = layer::data<"image", float, 8>(main);
    auto hidden = layer::fc<8>(image, {.param = {.name = "h.w_0"}});
#ifdef SHOULD_FAIL
    return layer::fc<8>(hidden, {.name = "h"});
#else
    return layer::fc<8>(hidden, {.name = "k"});
#endif
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
