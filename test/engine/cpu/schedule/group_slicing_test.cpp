// SPDX-License-Identifier: Apache-2.0
// Threads share the rows of a group.
#include <vector>

#include "program/user_operators.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cpu/schedule/group_slicing.hpp>

using user_operators::calls;
using user_operators::most_rows;
using user_operators::on_threads;
using user_operators::twice;
using user_operators::twice_by_row;

TEST_CASE("threads share the rows of an operator of a user's own that computes each by itself",
          "[threads]") {
  const int rows = 1001;
  const std::vector<float> whole = on_threads<twice>(rows);
  CHECK(calls == 1);
  CHECK(most_rows == rows);
  const std::vector<float> parts = on_threads<twice_by_row>(rows);
  CHECK(calls == 3);
  CHECK(most_rows < rows / 2);
  CHECK(parts == whole);
  REQUIRE(whole.size() == static_cast<std::size_t>(rows) * 3);
}
