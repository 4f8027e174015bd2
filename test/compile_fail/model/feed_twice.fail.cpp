// SPDX-License-Identifier: Apache-2.0
// One data layer fed twice: which of the two should count?
// expect-error: static.assert.*forward: expected one feed for each data layer, found two of one name
// expect-fact: gets_type<.*named<'x'>.*named<'x'>
// expect-lines: 12
#include <vector>

#include <lamina/layers/data.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  auto y = layer::data<"y", float, 2>(main);
  return layer::mean(layer::fc<1>({x, y}));
});

int main() {
  lamina::model m{net};
  lamina::evaluator e{m};
  const std::vector<float> a{1, 0}, b{0, 1};
#ifdef SHOULD_FAIL
  e.forward(lamina::feed<"x">(a), lamina::feed<"x">(b));  // <- here
#else
  e.forward(lamina::feed<"x">(a), lamina::feed<"y">(b));
#endif
  return e.cost() > 1000;
}
