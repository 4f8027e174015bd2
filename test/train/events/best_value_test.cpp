// SPDX-License-Identifier: Apache-2.0
// The best of the values so far.
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/train/events/best_value.hpp>

using lamina::best_value;
using lamina::better;

namespace {
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
}

TEST_CASE("the first number is the best, then what is better by more than the difference") {
  best_value costs(better::smaller, 0.25);
  CHECK(!costs.any());
  CHECK(costs.take(2));
  CHECK(costs.any());
  CHECK(!costs.take(1.875));
  CHECK(!costs.take(1.75));
  CHECK(costs.waited() == 2);
  CHECK(costs.take(1.5));
  CHECK(costs.best() == 1.5);
  CHECK(costs.number_of_best() == 3);
  CHECK(costs.waited() == 0);
  CHECK(!costs.take(3));

  best_value scores(better::larger, 0);
  CHECK(scores.take(-1));
  CHECK(!scores.take(-1));
  CHECK(scores.take(-0.5));
}

TEST_CASE("NaN is never the best value") {
  best_value costs(better::smaller, 0);
  CHECK(!costs.take(no_number));
  CHECK(!costs.any());
  CHECK(costs.take(5));
  CHECK(!costs.take(no_number));
  CHECK(costs.best() == 5);
  CHECK(costs.number_of_best() == 1);
  CHECK(costs.waited() == 1);
}

TEST_CASE("the count of values without improvement starts again; a saved state goes on") {
  best_value first(better::larger, 0);
  for (const double value : {1.0, 3.0, 2.0, 2.5}) first.take(value);
  CHECK(first.waited() == 2);
  std::vector<double> state;
  first.each_number([&](double& n) { state.push_back(n); });
  best_value second(better::larger, 0);
  std::size_t i = 0;
  second.each_number([&](double& n) { n = state[i++]; });
  CHECK(i == state.size());
  CHECK(second.best() == 3);
  CHECK(second.number_of_best() == 1);
  CHECK(second.waited() == 2);
  second.forgive();
  CHECK(second.waited() == 0);
  CHECK(!second.take(2.9));
  CHECK(second.take(3.1));
  CHECK(second.number_of_best() == 5);
}
