// SPDX-License-Identifier: Apache-2.0
// An evaluator of a program that has no parameters yet.
// expect-error: static.assert.*evaluator: expected a model, evaluator e\{model\}, found a program
// expect-lines: 12
#include <lamina/layers/data.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  return layer::mean(layer::fc<1>(layer::data<"x", float, 4>(main)));
});

int main() {
#ifdef SHOULD_FAIL
  lamina::evaluator e{net};  // <- here
#else
  lamina::model m{net};
  lamina::evaluator e{m};
#endif
  e.forward(lamina::feed<"x">(std::vector<float>(4)));
  return e.cost() != 0;
}
