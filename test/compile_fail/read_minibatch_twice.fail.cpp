// SPDX-License-Identifier: Apache-2.0
// What was computed of one mini-batch is used after another one was read.
// expect-error: static.assert.*read_minibatch: a variable has the rows of a mini-batch, and is used
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto more = layer::fill_constant<bool>(main, true);
    auto sum = layer::fill_constant<float>(main, 0);
    layer::while_loop(more, [&](lamina::block& loop) {
      auto [x] = layer::read_minibatch<"a", lamina::field<float, 4>>(loop, more);
      auto h = layer::fc<3>(x);
      auto cost = layer::mean(h);
      auto [y] = layer::read_minibatch<"b", lamina::field<float, 3>>(loop, more);
#ifdef SHOULD_FAIL
      sum = sum + cost + layer::mean(y * h);
#else
      sum = sum + cost + layer::mean(y);
#endif
    });
    return sum;
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
