// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <lamina/train/passes/prepare_machine.hpp>

namespace {

/// A machine that notes what it is told.
struct machine {
  bool stops = false, infinity = false, joins = false;
  void stop_at_nan(const lamina::number_check& what) { stops = true, infinity = what.infinity; }
  void join_world(lamina::world&, bool) {}
  void sync_batch_norm(lamina::world* w) { joins = w == nullptr; }
};
/// A machine of a device, which can do none of it.
struct plain_machine {
  void sync_batch_norm(lamina::world*) {}
};

}  // namespace

TEST_CASE("prepare_machine: the machine is told what the options ask for") {
  machine m;
  lamina::detail::prepare_machine(m, true, {.accumulate = 4});
  CHECK_FALSE(m.stops);
  CHECK_FALSE(m.joins);
  lamina::detail::prepare_machine(m, true, {.check_nan = true, .sync_batch_norm = true});
  CHECK(m.stops);
  CHECK_FALSE(m.infinity);
  CHECK(m.joins);
  lamina::detail::prepare_machine(m, true, {.check_infinity = true});
  CHECK(m.infinity);
}
TEST_CASE("prepare_machine: what a machine cannot do is an error") {
  machine m;
  CHECK_THROWS_WITH(lamina::detail::prepare_machine(m, true, {.accumulate = 0}),
                    "lamina: train: expected accumulate to be 1 or more, found 0");
  plain_machine device;
  CHECK_THROWS_WITH(lamina::detail::prepare_machine(device, false, {.accumulate = 2}),
                    "lamina: train: expected accumulate to be 1 on a device, found 2");
  CHECK_THROWS_WITH(lamina::detail::prepare_machine(device, false, {.check_nan = true}),
                    "lamina: check_nan: expected the CPU as place, found a device");
}
