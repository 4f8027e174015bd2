// SPDX-License-Identifier: Apache-2.0
// A program in double on a CUDA device.
// expect-error: lamina: cuda: expected a program in float, found one in double
#include "engine/cuda/host_backend.hpp"

#include <lamina/engine/cuda/schedule/machine.hpp>
#include <lamina/layers/data.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>

namespace cuda = lamina::engine::cuda;
namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
#ifdef SHOULD_FAIL
  auto x = layer::data<"x", double, 8>(main);
#else
  auto x = layer::data<"x", float, 8>(main);
#endif
  return layer::mean(layer::fc<4>(x));
});

using machine = cuda::machine<std::remove_const_t<decltype(net)>, cuda::host_backend<1>>;
int main() { return sizeof(machine) == 0; }  // <- here
