// SPDX-License-Identifier: Apache-2.0
// composite: several metrics of the same predictions.
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/metric/composite.hpp>
#include <lamina/metric/precision_recall.hpp>

TEST_CASE("a composite updates, evaluates and resets all of its metrics") {
  lamina::metric::composite both{lamina::metric::precision{}, lamina::metric::recall{}};
  both.update(std::vector<float>{0.9f, 0.8f, 0.1f, 0.2f}, std::vector<int>{1, 0, 1, 1});
  CHECK(both.eval()[0] == Approx(0.5));
  CHECK(both.eval()[1] == Approx(1. / 3));
  CHECK(both.get<1>().eval() == Approx(1. / 3));
  // What one metric refuses changes none.
  CHECK_THROWS_AS(both.update(std::vector<float>{0.9f}, std::vector<int>{7}), lamina::error);
  CHECK(both.eval()[0] == Approx(0.5));
  both.reset();
  CHECK_THROWS_AS(both.eval(), lamina::error);
}
