// SPDX-License-Identifier: Apache-2.0
// binary_counts: hits and misses, and bad input that changes nothing.
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/metric/binary_counts.hpp>

TEST_CASE("predictions above one half count as yes") {
  lamina::metric::binary_counts c("precision");
  CHECK_THROWS_AS(c.require_update(), lamina::error);
  c.update(std::vector<float>{0.9f, 0.5f, 0.51f, 0, 1}, std::vector<int>{1, 1, 0, 0, 1});
  CHECK(c.true_positive == 2);
  CHECK(c.false_negative == 1);
  CHECK(c.false_positive == 1);
  CHECK(c.true_negative == 1);
  CHECK(c.total() == 5);
}

TEST_CASE("bad predictions and labels change no count") {
  lamina::metric::binary_counts c("recall");
  const std::vector<float> one = {0.9f};
  using Catch::Contains;
  CHECK_THROWS_WITH(c.update(std::vector<float>{0.9f, 1.5f}, std::vector<int>{1, 1}),
                    "lamina: metric::recall: expected a prediction between 0 and 1, found 1.5");
  CHECK_THROWS_WITH(c.update(one, std::vector<int>{2}), Contains("a label of 0 or 1, found 2"));
  CHECK_THROWS_WITH(c.update(one, std::vector<int>{}), Contains("found fewer"));
  CHECK_THROWS_WITH(c.update(one, std::vector<int>{1, 1}), Contains("found more"));
  CHECK(c.total() == 0);
}
