// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>

#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/train/passes/report_event.hpp>

namespace {

struct options {
  int checks = 0;
};
void count_check(const void* of) { ++*static_cast<int*>(const_cast<void*>(of)); }

}  // namespace

TEST_CASE("report_event: a handler gets the facts of the run, and options are checked after it") {
  options opt;
  bool stopping = false;
  const std::optional<std::int64_t> batches = 12;
  const lamina::optimizer::event_handler none, stops = [&](const lamina::optimizer::event&e) {
    CHECK(opt.checks == 0);
    CHECK(e.batches == 12);
    CHECK(e.cost == 0.5);
    e.stop();
  };
  lamina::optimizer::event e{.cost = 0.5};
  lamina::detail::report_event({none, stopping, batches, &opt.checks, count_check}, e);
  CHECK(opt.checks == 0);
  lamina::detail::report_event({stops, stopping, batches, &opt.checks, count_check}, e);
  CHECK(opt.checks == 1);
  CHECK(stopping);
}
TEST_CASE("report_event: options that cannot change") {
  CHECK_THROWS_WITH(lamina::detail::fail_changed_options(2, 5, 3, 5),
                    "lamina: train: expected threads and seed of the options to stay 2 and 5 until "
                    "training is over, found 3 and 5");
}
