// SPDX-License-Identifier: Apache-2.0
// expect-error: lamina: gradients: the target depends on the variable
// expect-fact: named<'i', 'd', 's'>
// expect-lines: 12
#include <lamina/layers/layers.hpp>
#include <lamina/program/program.hpp>
#include <lamina/transform/gradients.hpp>

namespace layer = lamina::layer;

struct record {
  constexpr auto operator()(lamina::block& main) const {
    auto x = layer::data<"x", float, 3>(main);
    auto ids = layer::data<"ids", float, 3>(main);
    auto y = layer::tanh(x);
#ifdef SHOULD_FAIL
    auto [grad] = layer::gradients(y, ids);
#else
    auto [grad] = layer::gradients(y * ids, ids);
#endif
    return grad;
  }
};
constexpr auto net = lamina::program(record{});  // <- here

int main() { return net.parameter_count() < 0; }
