// SPDX-License-Identifier: Apache-2.0
// A layer that is called as another one whose name is made.
// expect-error: static.assert.*name: two variables of one program need two names
// expect-fact: at_line<15>.*named<'f', 'c', '_', '0', '.', 'w', '_', '0'>
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto hidden = layer::fc<8>(layer::data<"image", float, 64>(main));
#ifdef SHOULD_FAIL
    return layer::fc<8>(hidden, {.name = "fc_0"});
#else
    return layer::fc<8>(hidden, {.name = "fc_1"});
#endif
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
