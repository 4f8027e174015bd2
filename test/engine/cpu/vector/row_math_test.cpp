// SPDX-License-Identifier: Apache-2.0
// Sums, norms and moments of rows, in ranges where squares are no float.
#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/cpu/vector/row_math.hpp>

namespace cpu = lamina::engine::cpu;

TEST_CASE("sums and products of rows of any length are those in double") {
  for (const int n : {1, 2, 7, 16, 33, 1000}) {
    std::vector<float> x, y;
    double dot = 0, mean = 0;
    for (int i = 0; i < n; ++i) {
      x.push_back(static_cast<float>(i * 7 % 11) - 3);
      y.push_back(static_cast<float>(i * 5 % 13) - 6);
      dot += static_cast<double>(x.back() * y.back());
      mean += static_cast<double>(x.back()) / n;
    }
    CHECK(cpu::dot(x.data(), y.data(), n) == Approx(dot));
    CHECK(cpu::mean_of(x.data(), n) == Approx(mean));
    double squares = 0;
    for (const float v : x) squares += (static_cast<double>(v) - 1) * (static_cast<double>(v) - 1);
    CHECK(cpu::squared_distance(x.data(), 1, n) == Approx(squares));
  }
}

TEST_CASE("the mean of equal numbers is exact") {
  for (const float v : {0.1f, 1e30f, -3.3e-30f})
    CHECK(cpu::mean_of(std::vector<float>(777, v).data(), 777) == v);
}

TEST_CASE("norms are right where squares overflow or underflow") {
  for (const float size : {1.f, 1e25f, 1e-25f, std::numeric_limits<float>::denorm_min()}) {
    const std::vector<float> x = {3 * size, 0, -4 * size};
    CHECK(static_cast<double>(cpu::euclidean_norm(x.data(), 3) / size) == Approx(5));
  }
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(cpu::euclidean_norm(std::vector<float>{1, infinity}.data(), 2) == infinity);
  CHECK(std::isnan(cpu::euclidean_norm(std::vector<float>{infinity, std::nanf("")}.data(), 2)));
}

TEST_CASE("moments of large numbers have the deviation that they have in double") {
  for (const float size : {1.f, 1e25f}) {
    const std::vector<float> x = {1 * size, 2 * size, 3 * size, 6 * size};
    const auto m = cpu::row_moments(x.data(), 4, 0.f);
    CHECK(static_cast<double>(m.mean / size) == Approx(3));
    CHECK(static_cast<double>(m.inverse * size) == Approx(1 / std::sqrt(3.5)));
  }
  CHECK(cpu::inverse_deviation(0.f, 0.f) == 0);
}
