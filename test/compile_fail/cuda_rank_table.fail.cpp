// SPDX-License-Identifier: Apache-2.0
// Steps of sequences in a step of others, at a CUDA place.
// expect-error: lamina: cuda: rank tables of rows that a program makes do not run on the device yet
#include <lamina/engine/cuda/host_backend.hpp>
#include <lamina/engine/cuda/machine.hpp>
#include <lamina/layers/dynamic_rnn.hpp>
#include <lamina/layers/layers.hpp>

namespace cuda = lamina::engine::cuda;
namespace layer = lamina::layer;

template <class X>
constexpr auto sum_of_steps(X x) {
  auto out = layer::dynamic_rnn(x, [&](auto& step) {
    auto sum = step.memory(lamina::dims<3>);
    auto next = sum + step.input(x);
    step.update(sum, next);
    return next;
  });
  return layer::sequence_pool(out, {.type = lamina::pool::sum});
}

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"x", float, 3>(main);
#ifdef SHOULD_FAIL
  auto y = layer::sequence<"y", float, 3>(main);
  auto out = layer::dynamic_rnn(x, [&](auto& step) {
    return step.input(x) + sum_of_steps(step.static_input(y));
  });
  return layer::sequence_pool(out, {.type = lamina::pool::sum});
#else
  return sum_of_steps(x);
#endif
});

using machine = cuda::machine<std::remove_const_t<decltype(net)>, cuda::host_backend<1>>;
int main() { return sizeof(machine) == 0; }  // <- here
