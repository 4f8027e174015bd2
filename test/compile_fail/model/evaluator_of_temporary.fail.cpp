// SPDX-License-Identifier: Apache-2.0
// An evaluator of a model that is gone when it is used.
// expect-error: static.assert.*evaluator: expected a model that outlives it, found a temporary one
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
  lamina::evaluator e{lamina::model{net}};  // <- here
#else
  lamina::model m{net};
  lamina::evaluator e{m};
#endif
  e.forward(lamina::feed<"x">({1.f, 2.f, 3.f, 4.f}));
  return e.cost() != 0;
}
