// SPDX-License-Identifier: Apache-2.0
// A static evaluator of a program in double.
// expect-error: static.assert.*static_evaluator: expected a program in float, found one in double
// expect-lines: 12
// expect-errors: 9
#include <lamina/layers/data.hpp>
#include <lamina/model/static_evaluator.hpp>
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
  lamina::static_evaluator<decltype(net)> e;  // <- here
  (void)e;
}
