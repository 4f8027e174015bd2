// SPDX-License-Identifier: Apache-2.0
// Handlers of events read metrics by name and stop the loop.

#include <catch2/catch.hpp>

#include <lamina/optimizer/event_handler.hpp>
#include <lamina/optimizer/train_options.hpp>

TEST_CASE("a handler reads metrics by name and stops the loop", "[optimizer]") {
  const lamina::optimizer::metric_value metrics[]{{"accuracy", 0.75}, {"auc", 0.5}};
  bool stopping = false;
  lamina::train_options options{};
  double seen = 0;
  options.on_event = [&](const lamina::event& e) {
    if (e.is_end_pass()) e.stop();
    if (e.is_end_iteration()) seen = e.metric("auc");
  };

  const lamina::event iteration{.kind = lamina::event_kind::end_iteration,
                                .pass = 1,
                                .batch = 4,
                                .cost = 2.5,
                                .metrics = metrics,
                                .stopping = &stopping};
  options.on_event(iteration);
  CHECK(seen == 0.5);
  CHECK_FALSE(stopping);
  options.on_event({.kind = lamina::event_kind::end_pass, .stopping = &stopping});
  CHECK(stopping);

  CHECK_THROWS_WITH(iteration.metric("precision"), Catch::Contains("precision") &&
                                                       Catch::Contains("accuracy, auc") &&
                                                       Catch::Contains("EndIteration"));
  CHECK_THROWS_WITH(lamina::event{}.metric("auc"), Catch::Contains("none"));
  lamina::event{}.stop();
}
