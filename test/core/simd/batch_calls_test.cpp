// SPDX-License-Identifier: Apache-2.0
// Plain numbers and SIMD batches are told apart.
#include <cmath>

#include <catch2/catch.hpp>

#include <lamina/core/simd/batch_calls.hpp>
#include <lamina/engine/cpu/vector/simd.hpp>

TEST_CASE("numbers, batches of floats and batches of doubles are told apart") {
  using floats = lamina::engine::cpu::vector;
  using doubles = lamina::engine::cpu::vector_in<double>;
  STATIC_REQUIRE(lamina::math::is_plain<float>);
  STATIC_REQUIRE(!lamina::math::is_plain<floats>);
  STATIC_REQUIRE(!lamina::math::is_batch_of_doubles<double>);
  STATIC_REQUIRE(!lamina::math::is_batch_of_doubles<floats>);
  STATIC_REQUIRE(lamina::math::is_batch_of_doubles<doubles>);
}

TEST_CASE("rounding a batch keeps the sign of zero") {
  using floats = lamina::engine::cpu::vector;
  for (const float x : {-0.f, -0.25f, 0.25f, -1.5f, 2.5f}) {
    float down[16], up[16];
    lamina::math::detail::call_floor(floats(x)).store_unaligned(down);
    lamina::math::detail::call_ceil(floats(x)).store_unaligned(up);
    CHECK(down[0] == std::floor(x));
    CHECK(up[0] == std::ceil(x));
    CHECK(std::signbit(down[0]) == std::signbit(std::floor(x)));
    CHECK(std::signbit(up[0]) == std::signbit(std::ceil(x)));
  }
}

TEST_CASE("a constant of a batch is the double rounded as for a number of its type") {
  using floats = lamina::engine::cpu::vector;
  using doubles = lamina::engine::cpu::vector_in<double>;
  for (const double x : {0.1, -1e30, 0.69314718055994530942}) {
    float few[16];
    double many[8];
    lamina::math::constant<floats>(x).store_unaligned(few);
    lamina::math::constant<doubles>(x).store_unaligned(many);
    CHECK(few[0] == static_cast<float>(x));
    CHECK(few[floats::size - 1] == static_cast<float>(x));
    CHECK(many[doubles::size - 1] == x);
    CHECK(lamina::math::constant<float>(x) == static_cast<float>(x));
    CHECK(lamina::math::constant<double>(x) == x);
  }
}
