// SPDX-License-Identifier: Apache-2.0
// Events of lamina's loop as those of v2, and which of them a handler gets.
#include <array>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include <lamina/v2/event.hpp>

namespace event = lamina::v2::event;
using Catch::Contains;
using lamina::event_kind;

namespace {

constexpr std::array<lamina::optimizer::metric_value, 2> metrics{{{"accuracy", 0.75}, {"auc", 1}}};

/// The mini-batch 5 of pass 7 at a point of the loop.
lamina::event at(event_kind kind) {
  return {.kind = kind, .pass = 7, .batch = 5, .cost = 2.5, .metrics = metrics};
}

struct overloads {
  std::string* to;
  void operator()(const event::BeginPass& e) const { *to += "P" + std::to_string(e.pass_id); }
  void operator()(const event::EndIteration& e) const { *to += "i" + std::to_string(e.batch_id); }
};

}  // namespace

TEST_CASE("an event has v2's numbers, counted from the first pass of the call") {
  const lamina::event of = at(event_kind::end_iteration);
  const event::Event e = event::EndIteration(of, 4);
  CHECK(lamina::v2::isinstance<event::EndPass>(e) == nullptr);
  const auto* const i = lamina::v2::isinstance<event::EndIteration>(e);
  REQUIRE(i != nullptr);
  CHECK(i->pass_id == 3);
  CHECK(i->batch_id == 5);
  CHECK(i->cost == 2.5);
  CHECK(i->metrics["accuracy"] == 0.75);
  CHECK(str(i->metrics) == "{'accuracy': 0.75, 'auc': 1}");
  CHECK_THROWS_WITH(i->metrics["recall"], Contains("EndIteration has: accuracy, auc"));
  CHECK(&i->of() == &of);
}

TEST_CASE("a handler gets all events, or those of the types that it takes") {
  constexpr event_kind kinds[] = {
      event_kind::begin_pass,    event_kind::begin_iteration, event_kind::end_forward_backward,
      event_kind::end_iteration, event_kind::end_pass,        event_kind::end_validation};
  std::string some, all;
  const event::handler by_type = overloads{&some};
  const event::handler any = [&](const event::Event& e) { all += std::to_string(e.index()); };
  for (const event_kind kind : kinds) {
    by_type(at(kind), 0);
    any(at(kind), 0);  // v2 has no event for a validation
  }
  CHECK(some == "P7i5");
  CHECK(all == "01234");
  CHECK_FALSE(event::handler());
  CHECK(by_type);
}

TEST_CASE("an event asks the loop to stop; the result of a test has metrics by name") {
  bool stopping = false;
  lamina::event of = at(event_kind::end_pass);
  of.stopping = &stopping;
  const event::handler stops = [](const event::EndPass& e) { e.stop(); };
  stops(of, 0);
  CHECK(stopping);

  const event::TestResult result({.samples = 9, .cost = 0.5, .metrics = {{"accuracy", 0.25}}});
  CHECK(result.cost == 0.5);
  CHECK(result.metrics["accuracy"] == 0.25);
  CHECK(str(result.metrics) == "{'accuracy': 0.25}");
  CHECK(result.metrics.size() == 1);
  CHECK_THROWS_WITH(result.metrics["auc"], Contains("the program has: accuracy"));
}
