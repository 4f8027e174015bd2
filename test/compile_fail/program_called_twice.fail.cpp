// SPDX-License-Identifier: Apache-2.0
// A program that another one calls twice.
// expect-error: static.assert.*name: two variables of one program need two names
// expect-fact: at_line<13>.*named<'x'>
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  return layer::fc<2>(x);
});

struct record {
  constexpr auto operator()(lamina::block& main) const {
#ifdef SHOULD_FAIL
    net(main);
#endif
    return net(main);
  }
};
constexpr auto twice = lamina::program(record{});  // <- here

int main() { return twice.parameter_count() < 0; }
