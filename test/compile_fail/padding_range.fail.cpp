// SPDX-License-Identifier: Apache-2.0
// A padding number outside of the dictionary.
// expect-error: static.assert.*embedding: padding_idx lies inside the dictionary
// expect-fact: at_line<21>
// expect-fact: expects<100>
// expect-fact: gets<200>
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto ids = layer::data<"ids", std::int64_t>(main);
#ifdef SHOULD_FAIL
    constexpr int padding = 200;
#else
    constexpr int padding = -1;
#endif
    return layer::embedding<100, 8>(ids, {.padding_idx = padding});
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
