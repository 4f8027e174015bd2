// SPDX-License-Identifier: Apache-2.0
// Averages replace parameters and restore them.
#include <cstdint>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/numbers/philox.hpp>
#include <lamina/optimizer/exponential_moving_average.hpp>
#include <lamina/optimizer/model_average.hpp>
#include <lamina/optimizer/parameter_access.hpp>

namespace optimizer = lamina::optimizer;

namespace {

struct parameters {
  std::vector<std::vector<float>> values{std::vector<float>(3), std::vector<float>(2)};
  int size() const { return static_cast<int>(values.size()); }
  std::span<float> span(int i) { return values[static_cast<std::size_t>(i)]; }
  void set(int step) {
    for (std::size_t i = 0; i < values.size(); ++i)
      for (std::size_t k = 0; k < values[i].size(); ++k)
        values[i][k] = lamina::uniform_at(3, static_cast<std::uint64_t>(step), i * 10 + k);
  }
};

}  // namespace

TEST_CASE("averaged values can be put back early, kept and handed on", "[optimizer]") {
  optimizer::model_average average({.rate = 1, .min_average_window = 10, .max_average_window = 10});
  parameters p;
  p.values[0][0] = 1;
  average.update(p);
  p.values[0][0] = 3;
  average.update(p);
  {
    auto first = average.apply(p);
    CHECK(p.values[0][0] == 2.f);
    auto second = std::move(first);
    CHECK(p.values[0][0] == 2.f);
    second.restore();
    CHECK(p.values[0][0] == 3.f);
    p.values[0][0] = 7;
  }
  CHECK(p.values[0][0] == 7.f);
  average.apply(p).keep();
  CHECK(p.values[0][0] == 2.f);
}

TEST_CASE("averages refuse what cannot be averaged", "[optimizer]") {
  parameters p;
  optimizer::model_average average({.rate = 0.5f});
  optimizer::exponential_moving_average moving;
  CHECK_THROWS_WITH(average.apply(p), Catch::Contains("expected an update"));
  CHECK_THROWS_WITH(moving.apply(p), Catch::Contains("expected an update"));
  average.update(p);
  moving.update(p);
  p.values[1].push_back(1.f);
  CHECK_THROWS_WITH(average.update(p),
                    Catch::Contains("parameter 1") && Catch::Contains("found 3"));
  CHECK_THROWS_WITH(moving.apply(p), Catch::Contains("parameter 1"));
  p.values.pop_back();
  CHECK_THROWS_WITH(average.apply(p), Catch::Contains("expected 2 parameters"));
  CHECK_THROWS_AS(optimizer::model_average({.rate = -1}), lamina::error);
  CHECK_THROWS_AS(optimizer::exponential_moving_average(1.f), lamina::error);
  CHECK_THROWS_AS(optimizer::exponential_moving_average(-0.1f), lamina::error);
}
