// SPDX-License-Identifier: Apache-2.0
// accuracy: the mean weighted by rows.
#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

#include <lamina/metric/accuracy.hpp>

namespace metric = lamina::metric;

TEST_CASE("accuracy is the mean weighted by rows", "[metric]") {
  metric::accuracy a;
  CHECK_THROWS_AS(a.eval(), lamina::error);
  a.update(0.5, 64);
  a.update(1, 32);
  CHECK(a.eval() == Approx(64 / 96.));
  a.update(0, 0);
  CHECK(a.eval() == Approx(64 / 96.));
  CHECK_THROWS_AS(a.update(1, -1), lamina::error);
  CHECK_THROWS_AS(a.update(1, std::nan("")), lamina::error);
  CHECK_THROWS_AS(a.update(1, std::numeric_limits<double>::infinity()), lamina::error);
  CHECK(a.eval() == Approx(64 / 96.));
  a.reset();
  CHECK_THROWS_WITH(a.eval(), Catch::Contains("accuracy") && Catch::Contains("before eval"));
}
