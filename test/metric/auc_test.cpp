// SPDX-License-Identifier: Apache-2.0
// auc: no predictions, one class, and perfect ones.
#include <array>

#include <catch2/catch.hpp>

#include <lamina/metric/auc.hpp>

namespace metric = lamina::metric;

TEST_CASE("auc at its ends", "[metric]") {
  metric::auc a;
  CHECK_THROWS_AS(a.eval(), lamina::error);
  a.update(std::array{0.f, 1.f}, std::array{0, 1});
  CHECK(a.eval() == 1);
  a.reset();
  a.update(std::array{0.f, 1.f}, std::array{1, 0});
  CHECK(a.eval() == 0);
  a.reset();
  a.update(std::array{.4, .4}, std::array{1, 0});
  CHECK(a.eval() == 0.5);
  a.reset();
  a.update(std::array{.4}, std::array{1});
  CHECK(a.eval() == 0);  // one class alone
  metric::auc coarse{{.num_thresholds = 1}};
  coarse.update(std::array{.2, .9, 1.}, std::array{0, 1, 1});
  CHECK(coarse.eval() == 0.75);
  CHECK_THROWS_AS(metric::auc{{.num_thresholds = 0}}, lamina::error);
}
