// SPDX-License-Identifier: Apache-2.0
// A metric refuses bad input whole.
#include <array>
#include <cmath>

#include <catch2/catch.hpp>

#include <lamina/metric/metric.hpp>

namespace metric = lamina::metric;

TEST_CASE("a metric refuses bad input whole", "[metric]") {
  const auto check = [](auto m) {
    m.update(std::array{.9, .1, .8}, std::array{1, 0, 0});
    const double before = m.eval();
    CHECK_THROWS_WITH(m.update(std::array{.9, 1.5}, std::array{1, 0}), Catch::Contains("1.5"));
    CHECK_THROWS_AS(m.update(std::array{.9, -.5}, std::array{1, 0}), lamina::error);
    CHECK_THROWS_AS(m.update(std::array{.9, std::nan("")}, std::array{1, 0}), lamina::error);
    CHECK_THROWS_WITH(m.update(std::array{.9, .5}, std::array{1, 2}), Catch::Contains("label"));
    CHECK_THROWS_WITH(m.update(std::array{.9, .5}, std::array{1}), Catch::Contains("fewer"));
    CHECK_THROWS_WITH(m.update(std::array{.9}, std::array{1, 0}), Catch::Contains("more"));
    CHECK(m.eval() == before);
  };
  check(metric::precision{});
  check(metric::recall{});
  check(metric::auc{});

  metric::composite both{metric::precision{}, metric::auc{}};
  both.update(std::array{.9, .1}, std::array{1, 0});
  const auto before = both.eval();
  CHECK_THROWS_AS(both.update(std::array{.9, 2.}, std::array{0, 1}), lamina::error);
  CHECK(both.eval() == before);
}
