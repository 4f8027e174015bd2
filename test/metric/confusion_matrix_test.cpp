// SPDX-License-Identifier: Apache-2.0
// Counts of pairs of classes, and the scores of scikit-learn's documentation by hand.
#include <cstdint>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/metric/confusion_matrix.hpp>

using lamina::metric::confusion_matrix;

TEST_CASE("confusion_matrix: counts and scores") {
  confusion_matrix m(3);
  // scikit-learn: f1_score([0, 1, 2, 0, 1, 2], [0, 2, 1, 0, 0, 1], average="macro") is 0.26...
  m.update(std::vector<int>{0, 2, 1}, std::vector<std::int64_t>{0, 1, 2});
  m.update(std::vector<float>{0, 0, 1}, std::vector<int>{0, 1, 2});
  CHECK(m(0, 0) == 2);
  CHECK(m(1, 0) == 1);
  CHECK(m(1, 2) == 1);
  CHECK(m(2, 1) == 2);
  CHECK(m(1, 1) == 0);
  CHECK(m.precision(0) == Approx(2.0 / 3));
  CHECK(m.recall(0) == 1);
  CHECK(m.f1(0) == Approx(0.8));
  CHECK(m.f1(1) == 0);
  CHECK(m.eval() == Approx(0.8 / 3));
  CHECK(m.accuracy() == Approx(1.0 / 3));
  m.reset();
  CHECK(m(2, 1) == 0);
  CHECK(m.classes() == 3);
}

TEST_CASE("confusion_matrix: wrong input changes nothing") {
  confusion_matrix m(2);
  const std::vector<int> one{1}, two{1, 0}, high{2};
  m.update(two, two);
  CHECK_THROWS_WITH(m.update(one, two),
                    "lamina: metric::confusion_matrix: expected as many labels as predictions, "
                    "found more");
  CHECK_THROWS_AS(m.update(two, one), lamina::error);
  CHECK_THROWS_WITH(m.update(high, one),
                    "lamina: metric::confusion_matrix: expected a class from 0 to 1, found 2");
  for (const double wrong : {-1.0, 0.5, std::numeric_limits<double>::quiet_NaN()})
    CHECK_THROWS_AS(m.update(std::vector<double>{wrong}, one), lamina::error);
  CHECK_THROWS_AS(m(0, 2), lamina::error);
  CHECK_THROWS_AS(confusion_matrix(0), lamina::error);
  CHECK_THROWS_AS(confusion_matrix(2).accuracy(), lamina::error);
  CHECK(m(0, 0) == 1);
  CHECK(m(1, 1) == 1);
  CHECK(m.accuracy() == 1);
}
