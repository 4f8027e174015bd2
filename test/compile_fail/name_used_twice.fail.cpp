// SPDX-License-Identifier: Apache-2.0
// Two data layers of one name.
// expect-error: static.assert.*name: two variables of one program need two names
// expect-fact: at_line<16>
// expect-fact: named<'i', 'm', 'a', 'g', 'e'>
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto image = layer::data<"image", float, 64>(main);
#ifdef SHOULD_FAIL
    auto other = layer::data<"image", float, 64>(main);
#else
    auto other = layer::data<"other", float, 64>(main);
#endif
    return image + other;
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
