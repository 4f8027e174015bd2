// SPDX-License-Identifier: Apache-2.0
// A cost of rows of which each depends on all rows of a mini-batch.
// expect-error: static.assert.*grad_all_reduce: a cost is a mean or a sum over rows of one kind
// expect-fact: named<'c', 'u', 'm', 's', 'u', 'm'>
// expect-lines: 12
#include <lamina/distributed/transpile/grad_all_reduce.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/minimize.hpp>
#include <lamina/optimizer/optimizers.hpp>

namespace layer = lamina::layer;

template <bool Fails>
constexpr auto net = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [x] = layer::read_minibatch<"train", lamina::field<float, 2>>(loop, more);
    auto h = layer::fc<2>(x);
    if constexpr (Fails)
      lamina::optimizer::sgd{}.minimize(layer::mean(layer::cumsum<0>(h)));
    else
      lamina::optimizer::sgd{}.minimize(layer::mean(layer::cumsum<1>(h)));
  });
});

int main() {
#ifdef SHOULD_FAIL
  constexpr bool fails = true;
#else
  constexpr bool fails = false;
#endif
  static_cast<void>(lamina::transform::grad_all_reduce(net<fails>));  // <- here
  return 0;
}
