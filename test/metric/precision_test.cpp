// SPDX-License-Identifier: Apache-2.0
// precision and recall of a few predictions, by hand.
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/metric/metric.hpp>
#include <lamina/metric/precision.hpp>

namespace metric = lamina::metric;

TEST_CASE("precision and recall of a few by hand", "[metric]") {
  metric::precision p;
  metric::recall r;
  CHECK_THROWS_AS(p.eval(), lamina::error);
  CHECK_THROWS_AS(r.eval(), lamina::error);
  const std::vector<float> scores{.9f, .8f, .6f, .5f, .1f, .2f, .3f};
  const std::vector<int> labels{1, 1, 0, 1, 1, 0, 1};  // one half counts as no
  p.update(scores, labels);
  r.update(scores, labels);
  CHECK(p.eval() == Approx(2 / 3.));
  CHECK(r.eval() == Approx(2 / 5.));
  p.update(std::vector<float>{1.f}, std::vector<bool>{true});
  CHECK(p.eval() == Approx(3 / 4.));
  p.reset();
  p.update(std::vector<float>{0.f}, std::vector<int>{1});
  CHECK(p.eval() == 0);
  metric::recall none;
  none.update(std::vector<float>{1.f}, std::vector<int>{0});
  CHECK(none.eval() == 0);
}
