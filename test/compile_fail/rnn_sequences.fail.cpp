// SPDX-License-Identifier: Apache-2.0
// A step input whose sequences have lengths of their own.
// expect-error: static.assert.*dynamic_rnn: a step input has the sequences that the rnn walks over
// expect-fact: at_line<20>
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/operators/control/rnn/layer_dynamic.hpp>
#include <lamina/program/program.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto x = layer::sequence<"x", float, 4>(main);
    auto other = layer::sequence<"other", float, 4>(main);
    auto same = layer::sequence<"same", float, 4>(x);
    (void)other, (void)same;
    return layer::dynamic_rnn(x, [&](auto& step) {
#ifdef SHOULD_FAIL
      return step.input(x) + step.input(other);
#else
      return step.input(x) + step.input(same);
#endif
    });
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
