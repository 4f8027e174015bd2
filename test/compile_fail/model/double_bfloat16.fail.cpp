// SPDX-License-Identifier: Apache-2.0
// Weights of a program in double as bfloat16.
// expect-error: static.assert.*a program in double: this computes in float alone
// expect-fact: bfloat16_type
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/model/bfloat16/bfloat16_machine.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
#ifdef SHOULD_FAIL
  auto x = layer::data<"x", double, 8>(main);
#else
  auto x = layer::data<"x", float, 8>(main);
#endif
  return layer::mean(layer::fc<4>(x));
});

int main() {
  lamina::model m{net};
  lamina::evaluator e{m, lamina::storage::bfloat16};  // <- here
}
