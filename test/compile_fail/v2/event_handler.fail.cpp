// SPDX-License-Identifier: Apache-2.0
// A handler that takes no event of v2.
// expect-error: static.assert.*event_handler: expected a callable that takes const
// expect-lines: 12
#include <vector>

#include <lamina/v2.hpp>

namespace paddle = lamina::v2;
namespace layer = paddle::layer;

constexpr auto cost = lamina::program([](lamina::block& main) {
  auto x = lamina::layer::data<"x", float>(main);
  return layer::mean(layer::fc<1>(x));
});

int main() {
  auto parameters = paddle::parameters::create(cost);
  const auto sgd = paddle::optimizer::SGD();
  paddle::trainer::SGD trainer(cost, parameters, sgd);
  const std::vector<std::vector<float>> batches{{1.f, 2.f}};
#ifdef SHOULD_FAIL
  trainer.train(batches, {.event_handler = [](int) {}});  // <- here
#else
  trainer.train(batches, {.event_handler = [](const paddle::event::EndPass&) {}});
#endif
}
