// SPDX-License-Identifier: Apache-2.0
// Options that say when processes exchange what must be the same in all of them.

#include <cstdint>
#include <functional>
#include <string>

#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/train/checkpoints/checkpoint.hpp>
#include <lamina/train/passes/same_options.hpp>
#include <lamina/train/shared_tasks.hpp>

namespace {

struct no_tasks final : lamina::shared_tasks {
  void begin(int, const std::string&) override {}
  void use(std::int64_t) override {}
  std::string finished() override { return {}; }
  std::uint64_t checksum() const override { return 1; }
};

/// What all of three ranks say if rank 2 has other options; empty if nothing.
std::string fault(const std::function<void(lamina::train_options&)>& change,
                  const lamina::distributed::session_options& how = {}) {
  const auto found = test::errors_of(
      3,
      [&](test::thread_group& w) {
        lamina::train_options mine{.checkpoint = {.directory = "somewhere"}, .world = &w};
        if (w.rank() == 2) change(mine);
        lamina::detail::require_same_options(w, mine);
      },
      how);
  if (found.empty()) return {};
  CHECK(found.size() == 3);
  for (const auto& [rank, what] : found) CHECK(what == found.at(0));
  return found.at(0);
}

}  // namespace

TEST_CASE("an option by which processes would wait for each other is named", "[threads]") {
  const std::string begin = "lamina: train: expected the same option ",
                    end = " in each process, found ";
  CHECK(fault([](auto& o) { o.accumulate = 4; }) ==
        begin + "accumulate" + end + "1 in rank 0 and 4 in rank 2");
  CHECK(fault([](auto& o) { o.reads_shard = true; }) ==
        begin + "reads_shard" + end + "0 in rank 0 and 1 in rank 2");
  CHECK(fault([](auto& o) { o.check_infinity = true; }) ==
        begin + "check_nan or check_infinity" + end + "0 in rank 0 and 1 in rank 2");
  no_tasks tasks;
  CHECK(fault([&](auto& o) { o.tasks = &tasks; }) ==
        begin + "tasks (0: none, 1: a queue)" + end + "0 in rank 0 and 1 in rank 2");
  CHECK(fault([](auto& o) { o.checkpoint.directory = {}; }) ==
        begin + "checkpoint.directory (0: none, 1: one)" + end + "1 in rank 0 and 0 in rank 2");
  CHECK(fault([](auto& o) { o.checkpoint.every_passes = 2; }) ==
        begin + "checkpoint.every_passes" + end + "1 in rank 0 and 2 in rank 2");
  CHECK(fault([](auto& o) { o.checkpoint.every_batches = 7; }) ==
        begin + "checkpoint.every_batches" + end + "0 in rank 0 and 7 in rank 2");
}

TEST_CASE("options that say nothing about exchanges may differ, and those of servers",
          "[threads]") {
  CHECK(fault([](auto& o) { o.checkpoint.directory = "elsewhere"; }) == "");
  CHECK(fault([](auto& o) { o.checkpoint.keep = 1; }) == "");
  CHECK(fault([](auto& o) { o.on_event = [](const lamina::event&) {}; }) == "");
  CHECK(fault([](auto& o) { o.reads_shard = true; }, {.parameter_servers = 1}) == "");
}
