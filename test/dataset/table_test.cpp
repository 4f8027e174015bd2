// SPDX-License-Identifier: Apache-2.0
// Samples by number: rows, slices and errors.

#include <catch2/catch.hpp>

#include <lamina/dataset/digits.hpp>
#include <lamina/dataset/table.hpp>

namespace digits = lamina::dataset::digits;

TEST_CASE("a table of digits gives rows, slices and errors", "[dataset]") {
  const auto train = digits::train();
  const auto part = train.slice(100, 103);
  REQUIRE(part.size() == 3);
  CHECK(part[2].image == train[102].image);
  CHECK(part.slice(1, 2)[0].image == train[101].image);
  CHECK(part.slice(3, 3).empty());
  int count = 0;
  for (const digits::sample& s : part)
    CHECK(s.image == train[100 + static_cast<std::size_t>(count++)].image);
  CHECK(count == 3);
  CHECK_THROWS_AS(train[1437], lamina::error);
  CHECK_THROWS_AS(train.slice(2, 1), lamina::error);
  CHECK_THROWS_AS(part.slice(0, 4), lamina::error);
}
