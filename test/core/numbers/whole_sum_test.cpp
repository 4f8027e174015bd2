// SPDX-License-Identifier: Apache-2.0
// The exact mean of integers whose sum no 64 bits hold.
#include <cstdint>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/numbers/whole_sum.hpp>

TEST_CASE("the mean of integers is exact and rounded towards 0") {
  using integer = std::int64_t;
  constexpr integer most = std::numeric_limits<integer>::max(),
                    least = std::numeric_limits<integer>::min(), odd = (integer{1} << 53) + 1;
  const auto mean = [](const std::vector<integer>& all) {
    lamina::whole_sum sum;
    for (const integer x : all) sum.add(x);
    return sum.mean(static_cast<integer>(all.size()));
  };
  CHECK(mean({}) == 0);
  CHECK(mean({7, -8}) == 0);
  CHECK(mean({-7, 2}) == -2);
  CHECK(mean({7, -2}) == 2);
  CHECK(mean({least}) == least);
  CHECK(mean({most, least}) == 0);
  CHECK(mean(std::vector<integer>(1000, odd)) == odd);
  CHECK(mean(std::vector<integer>(1000, -odd)) == -odd);
  CHECK(mean(std::vector<integer>(1000, most)) == most);
  CHECK(mean(std::vector<integer>(1000, least)) == least);
  CHECK(mean({least, least, -1}) == -6148914691236517205);
}
