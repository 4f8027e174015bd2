// SPDX-License-Identifier: Apache-2.0
// Gradients of selected rows in a training loop that processes divide.
// expect-error: static.assert.*grad_all_reduce: embeddings without is_sparse
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
    auto [x] = layer::read_minibatch<"train", lamina::field<std::int64_t>>(loop, more);
    auto rows = layer::embedding<9, 2>(x, {.is_sparse = Fails});
    lamina::optimizer::sgd{}.minimize(layer::mean(rows));
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
