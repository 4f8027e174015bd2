// SPDX-License-Identifier: Apache-2.0
// weighted_average: a mean over batches of different size.

#include <catch2/catch.hpp>

#include <lamina/metric/weighted_average.hpp>

namespace metric = lamina::metric;

TEST_CASE("weighted_average", "[metric]") {
  metric::weighted_average w;
  CHECK_THROWS_AS(w.eval(), lamina::error);
  w.update(2, 1);
  w.update(5, 3);
  CHECK(w.eval() == 4.25);
}
