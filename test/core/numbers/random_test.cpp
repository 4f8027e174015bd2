// SPDX-License-Identifier: Apache-2.0
// Random numbers of elements: range, moments, and streams that do not overlap.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>

#include <catch2/catch.hpp>

#include <lamina/core/numbers/random.hpp>

TEST_CASE("numbers of elements have the range and the moments of their distribution") {
  const int n = 20000;
  double sum = 0, squares = 0, normal = 0, normal_squares = 0, largest = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    const float u = lamina::random_uniform_at(3, 4, i, -2, 6);
    CHECK((u >= -2 && u < 6));
    sum += static_cast<double>(u), squares += static_cast<double>(u * u);
    const double g = static_cast<double>(lamina::random_normal_at(3, 4, i));
    normal += g, normal_squares += g * g;
    largest = std::max(largest,
                       std::abs(static_cast<double>(lamina::random_truncated_normal_at(3, 4, i))));
  }
  CHECK(sum / n == Approx(2).margin(0.1));
  CHECK(squares / n - sum / n * sum / n == Approx(64. / 12).margin(0.15));
  CHECK(normal / n == Approx(0).margin(0.03));
  CHECK(normal_squares / n == Approx(1).margin(0.04));
  CHECK((largest <= 2 && largest > 1.9));
}

TEST_CASE("dropout keeps the fraction that is not dropped") {
  int kept = 0;
  for (std::uint64_t i = 0; i < 10000; ++i)
    kept += lamina::dropout_keeps(1, lamina::dropout_stream(0), i, 0.3f) ? 1 : 0;
  CHECK(kept == Approx(7000).margin(200));
}

TEST_CASE("operators, types and iterations have streams of their own") {
  using lamina::random_type;
  std::set<std::uint64_t> streams;
  for (std::uint64_t n : {0, 1, 2, 1000})
    for (std::uint64_t iteration : {0, 1, 2, 1 << 20}) {
      streams.insert(lamina::dropout_stream(n, iteration));
      for (const auto type :
           {random_type::uniform, random_type::normal, random_type::truncated_normal,
            random_type::uniform_like, random_type::normal_like})
        streams.insert(lamina::random_stream(type, n, iteration));
    }
  CHECK(streams.size() == 4 * 4 * 6);
}
