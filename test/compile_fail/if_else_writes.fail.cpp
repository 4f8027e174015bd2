// SPDX-License-Identifier: Apache-2.0
// A branch that assigns to a handle from outside.
// expect-error: static.assert.*if_else: a branch writes no variable of an outer block
// expect-fact: at_line<17>
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/split_merge/layer.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto x = layer::data<"x", float, 4>(main);
    auto chosen = layer::data<"chosen", bool>(main);
    auto n = layer::fill_constant<std::int64_t>(main, 0);
    auto y = layer::if_else(
        chosen,
        [&](auto& yes) {
#ifdef SHOULD_FAIL
          layer::increment(n);
#endif
          return layer::fc<5>(yes.input(x));
        },
        [&](auto& no) { return layer::fc<5>(no.input(x)); });
    return std::tuple{layer::mean(y), n};
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
