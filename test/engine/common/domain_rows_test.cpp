// SPDX-License-Identifier: Apache-2.0
// sequence_rows: the rows of each sequence of a part of a mini-batch.
#include <catch2/catch.hpp>

#include <lamina/engine/common/domain_rows.hpp>

TEST_CASE("the rows of sequences count from the first row of the part") {
  const int offsets[] = {10, 12, 12, 17};
  const lamina::engine::sequence_rows s{offsets, 3};
  CHECK((s.begin(0) == 0 && s.end(0) == 2 && s.length(0) == 2));
  CHECK((s.begin(1) == 2 && s.end(1) == 2 && s.length(1) == 0));
  CHECK((s.begin(2) == 2 && s.end(2) == 7 && s.length(2) == 5));
}
