// SPDX-License-Identifier: Apache-2.0
// An evaluator without a model.
// expect-error: static.assert.*evaluator: expected a model, evaluator e\{model\}, found none
// expect-lines: 12
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  return layer::mean(layer::fc<1>(x, {.name = "output"}));
});

int main() {
  lamina::model m{net};
#ifdef SHOULD_FAIL
  lamina::evaluator<std::remove_const_t<decltype(net)>> e;  // <- here
#else
  lamina::evaluator e{m};
#endif
  return e.cost() != 0;
}
