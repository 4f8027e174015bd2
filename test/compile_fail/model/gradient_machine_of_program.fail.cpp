// SPDX-License-Identifier: Apache-2.0
// A gradient machine of a program that has no parameters yet.
// expect-error: static.assert.*gradient_machine: expected a model, gradient_machine g\{model\}, found a program
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/model/gradient_machine.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  return layer::mean(layer::fc<1>(layer::data<"x", float, 4>(main)));
});

int main() {
#ifdef SHOULD_FAIL
  lamina::gradient_machine g{net};  // <- here
#else
  lamina::model m{net};
  lamina::gradient_machine g{m};
#endif
  return g.gradient<"fc_0.w_0">().size() == 0;
}
