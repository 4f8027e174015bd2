// SPDX-License-Identifier: Apache-2.0
// Static evaluators with bfloat16 weights are in a header of their own.
// expect-error: static.assert.*static_evaluator: weights are stored as storage::float32, or as
// expect-lines: 12
#include <lamina/lamina.hpp>
#include <lamina/model/bfloat16/bfloat16_machine.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 8>(main);
  return layer::fc<4>(x, {.name = "y"});
});

#ifdef SHOULD_FAIL
constexpr auto how = lamina::storage::bfloat16;
#else
constexpr auto how = lamina::storage::float32;
#endif

int main() {
  static lamina::static_evaluator<decltype(net), 1, how> e;  // <- here
  e.forward();
}
