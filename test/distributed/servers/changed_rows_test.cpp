// SPDX-License-Identifier: Apache-2.0
// Rows that changed since an update are each listed once; an old update means all rows.

#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/distributed/servers/changed_rows.hpp>

using lamina::distributed::changed_rows;
using list = std::vector<int>;

TEST_CASE("rows that changed since an update are listed once") {
  changed_rows changed(10, 3);
  list rows = {99};
  CHECK(changed.since(-1, rows));
  CHECK(rows.empty());
  changed.note(5, {3, 1}, false);
  changed.note(6, {1, 7}, false);
  const auto since = [&](std::int64_t seen) {
    REQUIRE(changed.since(seen, rows));
    std::sort(rows.begin(), rows.end());
    return rows;
  };
  CHECK(since(-1) == list{1, 3, 7});
  CHECK(since(5) == list{1, 7});
  CHECK(since(6).empty());
  CHECK(since(4) == list{1, 3, 7});
}

TEST_CASE("all rows are sent after an update of all, and for a trainer that is far behind") {
  changed_rows changed(4, 2);
  list rows;
  changed.note(0, {1}, false);
  changed.note(1, {}, true);
  CHECK_FALSE(changed.since(0, rows));
  CHECK(changed.since(1, rows));
  changed.note(2, {2}, false);  // update 0 is forgotten
  CHECK_FALSE(changed.since(-1, rows));
  CHECK_FALSE(changed.since(0, rows));
  REQUIRE(changed.since(1, rows));
  CHECK(rows == list{2});
  changed.note(3, {0, 1, 2, 3}, false);
  CHECK_FALSE(changed.since(2, rows));
}
