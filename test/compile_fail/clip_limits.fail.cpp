// SPDX-License-Identifier: Apache-2.0
// A lower limit above the upper one.
// expect-error: static.assert.*option: expected a value in the range that is named, found another
// expect-fact: at_line<20>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/elementwise/clip/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto x = layer::data<"x", float, 6>(main);
#ifdef SHOULD_FAIL
    constexpr float low = 2;
#else
    constexpr float low = -2;
#endif
    return layer::clip(x, low, 1);
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
