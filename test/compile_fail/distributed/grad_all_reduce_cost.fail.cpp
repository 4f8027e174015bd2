// SPDX-License-Identifier: Apache-2.0
// A cost that does not follow from those of the parts of a mini-batch.
// expect-error: static.assert.*grad_all_reduce: a cost is a mean or a sum over rows of one kind
// expect-fact: named<'s', 'q', 'u', 'a', 'r', 'e'>
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
    auto cost = layer::mean(layer::fc<1>(x));
    if constexpr (Fails)
      lamina::optimizer::sgd{}.minimize(layer::sqrt(layer::square(cost)));
    else
      lamina::optimizer::sgd{}.minimize(cost);
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
