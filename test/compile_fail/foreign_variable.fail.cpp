// SPDX-License-Identifier: Apache-2.0
// A variable of another program.
// expect-error: static.assert.*layer: all inputs come from one program
// expect-fact: at_line<22>
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto x = layer::data<"x", float, 64>(main);
#ifdef SHOULD_FAIL
    lamina::program_desc stranger = lamina::empty_program;
    lamina::program_builder elsewhere(stranger);
    lamina::block other{&elsewhere, 0};
    auto y = layer::data<"y", float, 64>(other);
#else
    auto y = layer::data<"y", float, 64>(main);
#endif
    return layer::elementwise_add(x, y);
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
