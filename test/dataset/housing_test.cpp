// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>

#include "dataset/temporary_file.hpp"
#include <catch2/catch.hpp>

#include <lamina/dataset/housing.hpp>

namespace housing = lamina::dataset::housing;

TEST_CASE("housing normalises each column as Fluid does", "[dataset]") {
  std::string text;
  for (int row = 0; row < 5; ++row) {
    for (int column = 0; column < 13; ++column)
      text += std::to_string(column == 12 ? 4 : row * (column + 1)) + ",";
    text += std::to_string(20 + row) + "\n";
  }
  const test::temporary_directory folder;
  const auto path = folder.write("housing.csv", text);
  const auto train = housing::train(path), test = housing::test(path);
  REQUIRE(train.size() == 4);
  REQUIRE(test.size() == 1);
  for (std::size_t column = 0; column < 12; ++column) {
    CHECK(train[0].features[column] == Approx(-0.5));
    CHECK(train[1].features[column] == Approx(-0.25));
    CHECK(test[0].features[column] == Approx(0.5));
  }
  CHECK(train[3].features[12] == 0.f);  // one value in the whole column
  auto [features, price] = test[0];
  CHECK(price == 24.f);
  CHECK_THROWS_WITH(housing::read(folder.write("narrow.csv", "1,2\n")),
                    Catch::Contains("expected 14 columns, found 2"));
}

TEST_CASE("housing reads UCI's file, whose numbers have blanks between them", "[dataset]") {
  const test::temporary_directory folder;
  const std::string numbers[] = {"0.00632", "18.00", "2.310", "0",     "0.5380", "6.5750", "65.20",
                                 "4.0900",  "1",     "296.0", "15.30", "396.90", "4.98",   "24.00"};
  std::string blanks, commas;
  for (int row = 0; row < 5; ++row) {
    for (int column = 0; column < 14; ++column) {
      const std::string value = column == row ? "7.5" : numbers[column];
      blanks += (column % 3 == 0 ? "  " : " ") + value;
      commas += (column > 0 ? "," : "") + value;
    }
    blanks += row % 2 == 0 ? " \n" : "\r\n";
    commas += "\n";
  }
  const auto a = housing::train(folder.write("housing.data", blanks));
  const auto b = housing::train(folder.write("housing.csv", commas));
  REQUIRE(a.size() == 4);
  for (std::size_t row = 0; row < 4; ++row) {
    CHECK(a[row].features == b[row].features);
    CHECK(a[row].price == b[row].price);
  }
  const auto wrong = blanks.find("6.5750", blanks.find('\n'));
  blanks.replace(wrong, 6, "6.57x0");
  CHECK_THROWS_WITH(
      housing::read(folder.write("wrong.data", blanks)),
      Catch::Contains("offset " + std::to_string(wrong)) && Catch::Contains("finite number"));
}

TEST_CASE("the real housing file", "[dataset]") {
  LAMINA_NEEDS_REAL_DATA("housing/boston_housing.csv");
  const auto source = housing::read(test::real_data() + "/housing/boston_housing.csv");
  const auto train = source.train(), test = source.test();
  REQUIRE(train.size() == 404);
  REQUIRE(test.size() == 102);
  CHECK(train[0].price == 24.f);
  CHECK(test[101].price == Approx(11.9));
  double sum[13] = {}, low[13] = {}, high[13] = {}, price = 0;
  for (auto& part : {train, test})
    for (const auto& s : part) {
      price += static_cast<double>(s.price);
      for (std::size_t i = 0; i < 13; ++i) {
        const double x = static_cast<double>(s.features[i]);
        sum[i] += x, low[i] = std::min(low[i], x), high[i] = std::max(high[i], x);
      }
    }
  for (int i = 0; i < 13; ++i) {
    CHECK(std::abs(sum[i]) < 1e-3);
    CHECK(high[i] - low[i] == Approx(1).epsilon(1e-6));
  }
  CHECK(price / 506 == Approx(22.532806).epsilon(1e-6));
}

TEST_CASE("the twin of housing is linear but for its noise", "[dataset]") {
  const auto train = housing::train(), test = housing::test();
  REQUIRE(train.size() == 404);
  REQUIRE(test.size() == 102);
  double squares = 0, spread = 0;
  for (auto& part : {train, test})
    for (auto [features, price] : part) {
      double expected = static_cast<double>(housing::twin_bias);
      for (std::size_t i = 0; i < 13; ++i) {
        if (std::abs(features[i]) > 0.5f) FAIL("a feature of " << features[i]);
        expected +=
            static_cast<double>(housing::twin_weights[i]) * static_cast<double>(features[i]);
      }
      const double noise = static_cast<double>(price) - expected;
      if (std::abs(noise) > 0.2501) FAIL("noise of " << noise);
      squares += noise * noise;
      spread += std::abs(expected - 22.5);
    }
  CHECK(squares / 506 == Approx(0.0625 / 3).epsilon(0.1));
  CHECK(spread / 506 > 3);
  CHECK(train[0].features == housing::train()[0].features);
}
