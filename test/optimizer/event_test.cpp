// SPDX-License-Identifier: Apache-2.0
// The names of events.

#include <catch2/catch.hpp>

#include <lamina/optimizer/event.hpp>
#include <lamina/optimizer/train_options.hpp>

TEST_CASE("events are named as in v2", "[optimizer]") {
  using lamina::optimizer::event_kind;
  using lamina::optimizer::name_of;
  CHECK(name_of(event_kind::begin_pass) == "BeginPass");
  CHECK(name_of(event_kind::begin_iteration) == "BeginIteration");
  CHECK(name_of(event_kind::end_forward_backward) == "EndForwardBackward");
  CHECK(name_of(event_kind::end_iteration) == "EndIteration");
  CHECK(name_of(event_kind::end_pass) == "EndPass");
}
