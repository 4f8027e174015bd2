// SPDX-License-Identifier: Apache-2.0
// A feeding that leaves a data layer of the cost out.
// expect-error: static.assert.*feeding: expected each data layer of the cost once
// expect-fact: named<'x'>
// expect-lines: 12
#include <tuple>
#include <vector>

#include <lamina/v2.hpp>

namespace paddle = lamina::v2;
namespace layer = paddle::layer;

constexpr auto cost = lamina::program([](lamina::block& main) {
  auto x = lamina::layer::data<"x", float>(main);
  auto y = lamina::layer::data<"y", float>(main);
  return layer::square_error_cost(layer::fc<1>(x), y);
});

int main() {
  auto parameters = paddle::parameters::create(cost);
  const auto sgd = paddle::optimizer::SGD();
  paddle::trainer::SGD trainer(cost, parameters, sgd);
  const std::vector<std::vector<std::tuple<float, float>>> batches{{{1.f, 2.f}}};
#ifdef SHOULD_FAIL
  trainer.train(batches, {}, paddle::feeding<"x", "">);  // <- here
#else
  trainer.train(batches, {}, paddle::feeding<"y", "x">);
#endif
}
