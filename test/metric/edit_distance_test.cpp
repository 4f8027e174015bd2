// SPDX-License-Identifier: Apache-2.0
// edit_distance: means over the sequences of all mini-batches.
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/metric/edit_distance.hpp>

namespace metric = lamina::metric;
using Catch::Contains;

TEST_CASE("the mean distance and the fraction of sequences with an error") {
  metric::edit_distance d;
  CHECK_THROWS_WITH(d.eval(), Contains("at least one sequence"));
  d.update(std::vector<float>{});
  CHECK_THROWS_AS(d.eval(), lamina::error);
  d.update(std::vector<float>{0, 2, 0.5f});
  d.update(std::vector<double>{0, 0});
  CHECK(d.eval().distance == 0.5);
  CHECK(d.eval().error_rate == 0.4);
  // What is refused changes nothing.
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH(d.update(std::vector<float>{1, nan}), Contains("found nan"));
  CHECK_THROWS_AS(d.update(std::vector<float>{-1}), lamina::error);
  CHECK(d.eval().distance == 0.5);
  d.reset();
  CHECK_THROWS_AS(d.eval(), lamina::error);
}
