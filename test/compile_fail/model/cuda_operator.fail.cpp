// SPDX-License-Identifier: Apache-2.0
// An operator that the device has no kernel for, in a program that is trained at one.
// expect-error: static.assert.*cuda: the device has no kernel for this yet: see docs/cuda.md
// expect-fact: call_expression<as_it_is>
// expect-lines: 12
#include <type_traits>

#include "engine/cuda/host_backend.hpp"

#include <lamina/engine/cuda/schedule/machine.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/train/device/device_trainer.hpp>

namespace layer = lamina::layer;
using backend = lamina::engine::cuda::host_backend<1>;

struct as_it_is : lamina::operator_definition {
  static constexpr const char* type = "as_it_is";
  static constexpr auto inputs = lamina::slots_x;
  static constexpr auto outputs = lamina::slots_out;
};

template <class V>
constexpr V own(V x) {
  layer::layer_helper helper(*x.builder, "as_it_is", {});
  const int y = helper.output_like(x.id);
  x.builder->add_operator(lamina::schema_of<as_it_is>(), {x.id}, {y});
  return helper.returns(V{x.builder, y});
}

template <bool Own>
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 8>(main);
  auto wanted = layer::data<"wanted", float, 4>(main);
  if constexpr (Own) x = own(x);
  auto scores = layer::fc<4>(x);
  return layer::mean(layer::square_error_cost(scores, wanted));
});

int main() {
  backend device;
#ifdef SHOULD_FAIL
  constexpr bool is_own = true;
#else
  constexpr bool is_own = false;
#endif
  using P = std::remove_const_t<decltype(net<is_own>)>;
  lamina::model m{net<is_own>};
  lamina::device_trainer<P, lamina::optimizer::sgd, backend> t(device, {}, m);  // <- here
}
