// SPDX-License-Identifier: Apache-2.0
// A trainer of a cost that its parameters were not created with.
// expect-error: static.assert.*trainer::SGD: expected parameters that were created with this cost
// expect-lines: 12
#include <lamina/v2.hpp>

namespace paddle = lamina::v2;
namespace layer = paddle::layer;

constexpr auto cost = lamina::program([](lamina::block& main) {
  auto x = lamina::layer::data<"x", float, 2>(main);
  return layer::mean(layer::fc<1>(x));
});
constexpr auto other = lamina::program([](lamina::block& main) {
  auto x = lamina::layer::data<"x", float, 2>(main);
  return layer::mean(layer::fc<3>(x));
});
static_assert(other.view().count.data == 1);

int main() {
  auto parameters = paddle::parameters::create(cost);
  const auto sgd = paddle::optimizer::SGD();
#ifdef SHOULD_FAIL
  paddle::trainer::SGD trainer(other, parameters, sgd);  // <- here
#else
  paddle::trainer::SGD trainer(cost, parameters, sgd);
#endif
  return trainer.of().passes();
}
