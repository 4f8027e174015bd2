// SPDX-License-Identifier: Apache-2.0
// Values without the name of the data layer.
// expect-error: static.assert.*forward: expected feeds by name, forward\(lamina::feed<.*x.*>\(values\)\)
// expect-fact: gets_type<std::vector<float
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
  lamina::model m{net};
  lamina::evaluator e{m};
  const std::vector<float> x(4);
#ifdef SHOULD_FAIL
  e.forward(x);  // <- here
#else
  e.forward(lamina::feed<"x">(x));
#endif
  return e.cost() != 0;
}
