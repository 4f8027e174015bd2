// SPDX-License-Identifier: Apache-2.0
// Sums, differences and products of whole numbers begin again at the other end of their range;
// sanitizers find an overflow. Source: pytorch/pytorch#190042.
#include <cstdint>
#include <limits>

#include <catch2/catch.hpp>

#include <lamina/core/numbers/wrapping.hpp>

namespace math = lamina::math;

namespace {

template <class T>
bool wraps() {
  constexpr T most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::min();
  return math::wrapping_sum(most, T(1)) == least &&
         math::wrapping_difference(least, T(1)) == most &&
         math::wrapping_product(most, T(2)) == static_cast<T>(-2) &&
         math::wrapping_product(least, static_cast<T>(-1)) == least;
}

}  // namespace

TEST_CASE("whole numbers wrap in sums, differences and products") {
  CHECK(wraps<std::int64_t>());
  CHECK(wraps<std::int32_t>());
  CHECK(wraps<std::int16_t>());
  CHECK(wraps<std::int8_t>());
  CHECK(math::wrapping_sum<std::uint8_t>(255, 1) == 0);
  CHECK(math::wrapping_sum(true, true));
  CHECK(math::wrapping_product(0.5, 3.0) == 1.5);
}
