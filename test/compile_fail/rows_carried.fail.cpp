// SPDX-License-Identifier: Apache-2.0
// A loop that carries sequences it makes longer, and values of those of before.
// expect-error: static.assert.*rows: a variable has the rows from before an operator changed them
// expect-fact: named<'t', 'a', 'n', 'h', '_', '0'
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto x = layer::sequence<"x", float, 4>(main);
    auto i = layer::fill_constant<std::int64_t>(main, 0);
    auto n = layer::fill_constant<std::int64_t>(main, 2);
    auto longer = layer::scale(x, 1), before = longer;
    auto going = layer::less_than(i, n);
    layer::while_loop(going, [&](lamina::block&) {
      longer = layer::sequence_concat<"x">(std::tuple{longer, longer});
#ifdef SHOULD_FAIL
      before = layer::tanh(before);
#endif
      layer::increment(i);
      layer::less_than(i, n, going);
    });
    return std::tuple{layer::sequence_pool(longer), layer::sequence_pool(before)};
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
