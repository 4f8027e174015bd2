// SPDX-License-Identifier: Apache-2.0
// text joins strings, numbers and shapes.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/messages/text.hpp>

using lamina::text;

TEST_CASE("text joins words and whole numbers of every type") {
  CHECK(std::string(text("expected ") << 3 << " rows, found " << std::size_t{4}) ==
        "expected 3 rows, found 4");
  CHECK(std::string(text() << std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
  CHECK(std::string(text() << std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
  CHECK(std::string(text("a") << (text("b") << -1)) == "ab-1");
  CHECK(std::string(text() << "") == "");
}

TEST_CASE("text prints numbers with a point, and NaN without a sign") {
  CHECK(std::string(text().print("%.3g", 0.25)) == "0.25");
  CHECK(std::string(text().print("%.1f, at most", -1234.5)) == "-1234.5, at most");
  CHECK(std::string(text().print("%g", -std::numeric_limits<double>::quiet_NaN())) == "nan");
  CHECK(std::string(text().print("%.0f", std::numeric_limits<double>::max())).size() == 309);
}

TEST_CASE("text writes shapes in brackets") {
  CHECK(std::string(text().list(std::vector<int>{64, 10})) == "[64, 10]");
  CHECK(std::string(text().list(std::vector<int>{})) == "[]");
}
