// SPDX-License-Identifier: Apache-2.0
// A handle of a body in a tuple, which copies it: the line is that of the layer.
// expect-error: static.assert.*block: a variable is used in its own block and those inside of it
// expect-fact: at_line<31>
// expect-lines: 12
#include <optional>

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
    auto going = layer::less_than(i, n);
    auto array = layer::array_write(x, i);
    std::optional<decltype(x)> kept = x;
    layer::while_loop(going, [&](lamina::block&) {
#ifdef SHOULD_FAIL
      kept.emplace(layer::tanh(x));
#endif
      layer::increment(i);
      layer::less_than(i, n, going);
    });
    auto last = layer::array_read(array, layer::fill_constant<std::int64_t>(main, 0));
    auto y = layer::fc<3>(std::tuple{last, *kept});
    return layer::mean(layer::tanh(y));
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
