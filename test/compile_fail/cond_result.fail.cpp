// SPDX-License-Identifier: Apache-2.0
// A branch that returns nothing.
// expect-error: static.assert.*branch: a branch returns variables, one or a tuple of them
// expect-fact: at_line<19>
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto x = layer::mean(layer::data<"x", float, 4>(main));
    auto positive = layer::greater_than(x, layer::fill_constant<float>(main, 0));
    const auto same = [&](lamina::block&) { return x; };
    const auto twice = [&](lamina::block&) { return layer::scale(x, 2); };
    const auto nothing = [&](lamina::block&) { layer::scale(x, 2); };
#ifdef SHOULD_FAIL
    x = layer::cond(positive, same, nothing);
#else
    x = layer::cond(positive, same, twice);
#endif
    static_cast<void>(twice), static_cast<void>(nothing);
    return x;
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
