// SPDX-License-Identifier: Apache-2.0
// A probability above 1.
// expect-error: static.assert.*option: expected a value in the range that is named, found another
// expect-fact: at_line<20>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/random/dropout/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto x = layer::data<"x", float, 6>(main);
#ifdef SHOULD_FAIL
    constexpr float probability = 1.5f;
#else
    constexpr float probability = 0.5f;
#endif
    return layer::dropout(x, probability);
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
