// SPDX-License-Identifier: Apache-2.0
// Functions of vectors against those of the C library in double.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include <catch2/catch.hpp>

#include <lamina/core/math.hpp>
#include <lamina/engine/cpu/simd.hpp>

using lamina::engine::cpu::lanes;
using lamina::engine::cpu::vector;

namespace {

float tanh_of(float x) {
  alignas(64) float found[lanes];
  lamina::math::tanh(vector(x)).store_aligned(found);
  return found[0];
}

float erf_of(float x) {
  alignas(64) float found[lanes];
  lamina::math::erf(vector(x)).store_aligned(found);
  return found[0];
}

}  // namespace

TEST_CASE("tanh of vectors is right to 4e-7 of its value, everywhere") {
  double worst = 0;
  // Every 997th float from the least normal one to 2^7.
  for (std::uint32_t bits = 0x00800000u; bits < 0x43000000u; bits += 997) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    const float y = tanh_of(x);
    const double exact = std::tanh(static_cast<double>(x));
    worst = std::max(worst, std::abs(y / exact - 1));
    if (bits % 64 == 0) REQUIRE(tanh_of(-x) == -y);
    if (y > 1) FAIL(x);
  }
  CHECK(worst < 4e-7);
}

TEST_CASE("tanh of vectors: limits, zeros and what is not a number") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(tanh_of(infinity) == 1);
  CHECK(tanh_of(-infinity) == -1);
  CHECK(tanh_of(0.f) == 0);
  CHECK(std::signbit(tanh_of(-0.f)));
  CHECK(std::isnan(tanh_of(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("erf of vectors is right to 5e-7 of its value, everywhere") {
  double worst = 0;
  for (std::uint32_t bits = 0x00800000u; bits < 0x43000000u; bits += 997) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    const float y = erf_of(x);
    worst = std::max(worst, std::abs(y / std::erf(static_cast<double>(x)) - 1));
    if (bits % 64 == 0) REQUIRE(erf_of(-x) == -y);
    if (y > 1) FAIL(x);
  }
  CHECK(worst < 5e-7);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(erf_of(infinity) == 1);
  CHECK(erf_of(-infinity) == -1);
  CHECK(erf_of(0.f) == 0);
  CHECK(std::signbit(erf_of(-0.f)));
  CHECK(std::isnan(erf_of(std::numeric_limits<float>::quiet_NaN())));
}
