// SPDX-License-Identifier: Apache-2.0
// An array that was made in a body, read behind the loop.
// expect-error: static.assert.*block: a variable is used in its own block and those inside of it
// expect-fact: at_line<30>
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/array/layer.hpp>
#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto x = layer::data<"x", float, 4>(main);
    auto i = layer::fill_constant<std::int64_t>(main, 0);
    auto n = layer::fill_constant<std::int64_t>(main, 3);
    auto zero = layer::fill_constant<std::int64_t>(main, 0);
    auto going = layer::less_than(i, n);
    auto array = layer::create_array<decltype(x)>(main);
    layer::while_loop(going, [&](lamina::block&) {
#ifdef SHOULD_FAIL
      array = layer::array_write(x, zero);
#else
      layer::array_write(x, zero, array);
#endif
      layer::increment(i);
      layer::less_than(i, n, going);
    });
    return layer::mean(layer::array_read(array, zero));
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
