// SPDX-License-Identifier: Apache-2.0
// array_pool: arrays that are borrowed and returned.
#include <catch2/catch.hpp>

#include <lamina/engine/common/array_pool.hpp>
#include <lamina/engine/cpu/schedule/call_context.hpp>

TEST_CASE("an array that was returned is taken again, with its memory") {
  lamina::engine::array_pool<lamina::engine::cpu::buffer_chunks> pool;
  auto* const a = pool.take();
  auto* const b = pool.take();
  CHECK(a != b);
  float* const memory = a->write(0, 1, 16);
  pool.give_back(a);
  auto* const again = pool.take();
  CHECK(again == a);
  CHECK(again->data(0) == memory);
  pool.give_back_all();
  auto *const c = pool.take(), *const d = pool.take();
  CHECK(((c == a && d == b) || (c == b && d == a)));
  CHECK(pool.take() != a);
}
