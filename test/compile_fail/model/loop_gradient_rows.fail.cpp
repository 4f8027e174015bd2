// SPDX-License-Identifier: Apache-2.0
// The gradient of what a loop carries while it makes its sequences longer.
// expect-error: static.assert.*train: gradients do not flow through a handle whose rows a loop
// expect-fact: named<'w', 'h', 'i', 'l', 'e', '_', '0'
// expect-lines: 12
#include <tuple>

#include <lamina/layers/layers.hpp>
#include <lamina/model/gradient_machine.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 4>(main);
  auto n = layer::fill_constant<std::int64_t>(main, 2),
       i = layer::fill_constant<std::int64_t>(main, 0);
#ifdef SHOULD_FAIL
  auto h = layer::fc<4>(x);
#else
  auto h = x;
#endif
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](lamina::block&) {
    h = layer::sequence_concat<"x">(std::tuple{h, layer::tanh(h)});
    layer::increment(i);
    layer::less_than(i, n, going);
  });
  return layer::mean(layer::square(layer::fc<2>(layer::sequence_pool(h))));
});

int main() {
  lamina::model m{net};
  lamina::gradient_machine machine{m};  // <- here
  return m.parameter_arrays() == 0;
}
