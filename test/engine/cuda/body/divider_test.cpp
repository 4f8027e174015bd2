// SPDX-License-Identifier: Apache-2.0
// divider: quotients and remainders by a multiplication.
#include <random>

#include <catch2/catch.hpp>

#include <lamina/engine/cuda/body/divider.cuh>

TEST_CASE("a divider has the quotients and remainders of / and %") {
  std::mt19937 random(3);
  std::uniform_int_distribution<int> any(0, 2147483647);
  const auto check = [](int n, int by) {
    const lamina::engine::cuda::divider d(by);
    int rest = n;
    const int quotient = d.divide(rest);
    return quotient == n / by && rest == n % by && d.quotient(n) == n / by && d.divisor() == by;
  };
  for (const int by : {1, 2, 3, 5, 7, 10, 641, 65535, 65536, 1 << 30, 2147483646, 2147483647}) {
    for (const int n : {0, 1, by - 1, by, 2147483646, 2147483647}) CHECK(check(n, by));
    for (int i = 0; i < 1000; ++i) REQUIRE(check(any(random), by));
  }
  for (int i = 0; i < 1000; ++i) REQUIRE(check(any(random), 1 + any(random) % 2147483647));
  CHECK(lamina::engine::cuda::divider(0).divisor() == 1);  // an empty array divides by nothing
}
