// SPDX-License-Identifier: Apache-2.0
// An operator that the device has no kernel for, in a program that is trained at one.
// expect-error: static.assert.*cuda: the device has no kernel for this yet: see docs/cuda.md
// expect-fact: call_expression<lamina::argsort>
// expect-lines: 12
#include <tuple>
#include <type_traits>

#include <lamina/engine/cuda/host_backend.hpp>
#include <lamina/engine/cuda/machine.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/train/device_trainer.hpp>

namespace layer = lamina::layer;
using backend = lamina::engine::cuda::host_backend<1>;

template <bool Sorts>
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 8>(main);
  auto wanted = layer::data<"wanted", float, 4>(main);
  auto scores = layer::fc<4>(x);
  if constexpr (Sorts) scores = std::get<0>(layer::argsort(scores));
  return layer::mean(layer::square_error_cost(scores, wanted));
});

int main() {
  backend device;
#ifdef SHOULD_FAIL
  constexpr bool sorts = true;
#else
  constexpr bool sorts = false;
#endif
  using P = std::remove_const_t<decltype(net<sorts>)>;
  lamina::model m{net<sorts>};
  lamina::device_trainer<P, lamina::optimizer::sgd, backend> t(device, {}, m);  // <- here
}
