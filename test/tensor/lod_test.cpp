// SPDX-License-Identifier: Apache-2.0
// lod: lengths and offsets, levels, parts.

#include <catch2/catch.hpp>

#include <lamina/tensor/lod.hpp>
#include <lamina/tensor/lod_tensor.hpp>

using Catch::Contains;
using lamina::lod;

using levels = std::vector<lod::level>;

namespace {

const levels fluid_lengths{{3, 1, 2}, {2, 2, 1, 3, 1, 2}};

const levels fluid_offsets{{0, 3, 4, 6}, {0, 2, 4, 5, 8, 9, 11}};

}  // namespace

TEST_CASE("lengths and offsets say the same") {
  const lod l = lod::from_lengths(fluid_lengths);
  CHECK(l == lod(fluid_offsets));
  CHECK(l.recursive_sequence_lengths() == fluid_lengths);
  CHECK(l.levels() == 2);
  CHECK(l.sequences(0) == 3);
  CHECK(l.sequences() == 6);
  CHECK(l.rows() == 11);
  CHECK(l.length(3) == 3);
  CHECK(l.offsets(0) == fluid_offsets[0]);
  CHECK(l.last() == fluid_offsets[1]);
  CHECK(to_string(l) == "[[3, 1, 2], [2, 2, 1, 3, 1, 2]]");
  CHECK(l != lod::from_lengths({{6}, {2, 2, 1, 3, 1, 2}}));
  CHECK(lod().empty());
  CHECK(to_string(lod()) == "[]");
}

TEST_CASE("absolute offsets, levels above and below") {
  const lod l(fluid_offsets);
  CHECK(l.absolute(0) == lod::level{0, 5, 8, 11});
  CHECK(l.absolute(1) == fluid_offsets[1]);
  CHECK(l.above() == lod::from_lengths({{3, 1, 2}}));
  CHECK(l.above().above().empty());
  CHECK(l.above().below({2, 2, 1, 3, 1, 2}) == l);
  CHECK(lod().below({0, 2}) == lod::from_lengths({{0, 2}}));
  CHECK_THROWS_WITH(l.above().below({1}),
                    Contains("expected 6 sequences in level 1") && Contains("found 1"));
}

TEST_CASE("a lod refuses what is none") {
  CHECK_THROWS_WITH(lod(levels{{}}), Contains("level 0 to begin with offset 0, found no offset"));
  CHECK_THROWS_WITH(lod({{1, 2}}), Contains("begin with offset 0, found another"));
  CHECK_THROWS_WITH(lod({{0, 3, 2}}), Contains("ascending offsets in level 0, found 3 before 2"));
  CHECK_THROWS_WITH(lod({{0, 2}, {0, 1, 1, 4}}),
                    Contains("expected 2 sequences in level 1 as level 0 says, found 3"));
  CHECK_THROWS_WITH(lod().last(), Contains("expected a level below 0"));
  CHECK_THROWS_WITH(lod(fluid_offsets).offsets(2), Contains("below 2, found 2"));
  CHECK_THROWS_AS(lod().above(), lamina::error);
}

TEST_CASE("a part of a lod, and parts joined again") {
  const lod l(fluid_offsets);
  CHECK(l.slice(1, 3) == lod::from_lengths({{1, 2}, {3, 1, 2}}));
  CHECK(l.slice(0, 3) == l);
  CHECK(l.slice(2, 2) == lod(levels{{0}, {0}}));
  for (std::size_t at = 0; at <= 3; ++at) CHECK(l.slice(0, at).concat(l.slice(at, 3)) == l);
  CHECK_THROWS_WITH(l.slice(1, 4), Contains("a part of 3 sequences, found [1, 4)"));
  CHECK_THROWS_WITH(l.slice(2, 1), Contains("found [2, 1)"));
  CHECK_THROWS_WITH(l.concat(l.above()), Contains("expected 2 levels") && Contains("found 1"));
}
