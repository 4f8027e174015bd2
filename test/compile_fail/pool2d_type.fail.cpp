// SPDX-License-Identifier: Apache-2.0
// A window of an image has no first element.
// expect-error: static.assert.*pool2d: a window of an image gives its average or its max
// expect-fact: at_line<20>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/pool/pool2d/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto x = layer::data<"x", float, 6, 9, 9>(main);
#ifdef SHOULD_FAIL
    constexpr auto type = lamina::pooling_type::first;
#else
    constexpr auto type = lamina::pooling_type::average;
#endif
    return layer::pool2d<2>(x, {.type = type});
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
