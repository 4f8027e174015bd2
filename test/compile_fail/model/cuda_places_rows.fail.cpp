// SPDX-License-Identifier: Apache-2.0
// A table with gradients of some rows, in a program that is trained at several devices.
// expect-error: static.assert.*cuda: places: gradients of rows
// expect-fact: is_sparse
// expect-lines: 12
#include <cstdint>
#include <type_traits>

#include <lamina/engine/cuda/host_backend.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/train/places_trainer.hpp>

namespace layer = lamina::layer;
using backend = lamina::engine::cuda::host_backend<1>;

template <bool Sparse>
constexpr auto net = lamina::program([](lamina::block& main) {
  auto user = layer::data<"user", std::int64_t>(main);
  auto wanted = layer::data<"wanted", float, 4>(main);
  auto scores = layer::embedding<9, 4>(user, {.is_sparse = Sparse});
  return layer::mean(layer::square_error_cost(scores, wanted));
});

int main() {
  backend first(0), second(1);
#ifdef SHOULD_FAIL
  constexpr bool sparse = true;
#else
  constexpr bool sparse = false;
#endif
  using P = std::remove_const_t<decltype(net<sparse>)>;
  lamina::model m{net<sparse>};
  lamina::places_trainer<P, lamina::optimizer::sgd, backend> t({&first, &second}, {}, m);  // <- here
}
