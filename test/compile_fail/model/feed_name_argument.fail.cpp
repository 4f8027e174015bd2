// SPDX-License-Identifier: Apache-2.0
// A feed whose name stands among the arguments.
// expect-error: static.assert.*feed: expected the name as a template argument, feed<.*x.*>\(values\)
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
  e.forward(lamina::feed("x", x));  // <- here
#else
  e.forward(lamina::feed<"x">(x));
#endif
  return e.cost() != 0;
}
