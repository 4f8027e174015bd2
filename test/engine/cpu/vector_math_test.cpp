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
#include <lamina/operators/activation.hpp>
#include <lamina/operators/clip.hpp>
#include <lamina/operators/tunable_activation.hpp>

using lamina::engine::cpu::lanes;
using lamina::engine::cpu::vector;

namespace {

// What a sanitizer sees it sees in a tenth of the numbers.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LAMINA_TEST_SANITIZED
#endif
#endif
#if defined(LAMINA_TEST_SANITIZED)
constexpr std::uint32_t apart = 9973;
constexpr double closer = 0.987;
#else
constexpr std::uint32_t apart = 997;
constexpr double closer = 0.9987;
#endif

float tanh_of(float x) {
  alignas(64) float found[lanes];
  lamina::math::tanh(vector(x)).store_aligned(found);
  return found[0];
}

float exp_of(float x) {
  alignas(64) float found[lanes];
  lamina::math::exp(vector(x)).store_aligned(found);
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
  // Every `apart`-th float from the least normal one to 2^7.
  for (std::uint32_t bits = 0x00800000u; bits < 0x43000000u; bits += apart) {
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

namespace {

using doubles = lamina::engine::cpu::vector_in<double>;

template <class F>
double of_double(F f, double x) {
  alignas(64) double found[lamina::engine::cpu::lanes_in<double>];
  f(doubles(x)).store_aligned(found);
  return found[0];
}

// The largest relative error over numbers of both signs, tiny ones too.
template <class F, class G>
double error_in_double(F f, G exact, double most) {
  double worst = 0;
  for (double x = most; x > 1e-300; x *= closer)
    for (const double at : {x, -x}) {
      const long double expected = exact(static_cast<long double>(at));
      const long double off = (of_double(f, at) - expected) / expected;
      worst = std::max(worst, static_cast<double>(off < 0 ? -off : off));
    }
  return worst;
}

}  // namespace

TEST_CASE("functions of vectors of doubles are right to the digits of double") {
  namespace math = lamina::math;
  const auto exp = [](auto x) { return math::exp(x); };
  const auto tanh = [](auto x) { return math::tanh(x); };
  const auto erf = [](auto x) { return math::erf(x); };
  CHECK(error_in_double(
            exp, [](long double x) { return std::exp(x); }, 700) < 4e-16);
  CHECK(error_in_double(
            tanh, [](long double x) { return std::tanh(x); }, 30) < 4e-16);
  CHECK(error_in_double(
            erf, [](long double x) { return std::erf(x); }, 8) < 1e-14);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double none = std::numeric_limits<double>::quiet_NaN();
  CHECK(of_double(exp, 710) == infinity);
  CHECK(of_double(exp, -750) == 0);
  CHECK(of_double(exp, infinity) == infinity);
  CHECK(of_double(exp, -infinity) == 0);
  for (const double x : {1e300, infinity}) {
    CHECK(of_double(tanh, x) == 1);
    CHECK(of_double(tanh, -x) == -1);
    CHECK(of_double(erf, x) == 1);
    CHECK(of_double(erf, -x) == -1);
  }
  CHECK(std::signbit(of_double(tanh, -0.0)));
  CHECK(std::isnan(of_double(exp, none)));
  CHECK(std::isnan(of_double(tanh, none)));
  CHECK(std::isnan(of_double(erf, none)));
}

TEMPLATE_TEST_CASE("activations with bounds let through what is not a number", "", lamina::relu,
                   lamina::clip, lamina::relu6, lamina::brelu, lamina::soft_relu,
                   lamina::hard_sigmoid, lamina::hard_swish) {
  const auto of = [](auto x) {
    using T = decltype(x);
    if constexpr (lamina::scalars_of<TestType> == 0)
      return TestType::f(x);
    else if constexpr (lamina::scalars_of<TestType> == 1)
      return TestType::f(x, T(6.f));
    else if constexpr (lamina::scalars_of<TestType> == 2)
      return TestType::f(x, T(0.25f), T(0.5f));
    else
      return TestType::f(x, T(6.f), T(6.f), T(3.f));
  };
  const float none = std::numeric_limits<float>::quiet_NaN();
  alignas(64) float found[lanes];
  of(vector(none)).store_aligned(found);
  CHECK(std::isnan(found[0]));
  CHECK(std::isnan(of(none)));
  CHECK(std::isnan(of(static_cast<double>(none))));
  of(vector(0.75f)).store_aligned(found);
  CHECK(found[0] == Approx(of(0.75)));
}

TEST_CASE("erf of vectors is right to 5e-7 of its value, everywhere") {
  double worst = 0;
  for (std::uint32_t bits = 0x00800000u; bits < 0x43000000u; bits += apart) {
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

TEST_CASE("exp of vectors is right to 3e-7 of its value where that is a normal number") {
  double worst = 0;
  // Every 3989th float from 2^-40 to the ends, 88.37 and -87.33.
  for (std::uint32_t bits = 0x2b800000u; bits < 0x42b0bd70u; bits += 3989) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    worst = std::max(worst, std::abs(exp_of(x) / std::exp(static_cast<double>(x)) - 1));
    if (x < 87.33f)
      worst = std::max(worst, std::abs(exp_of(-x) / std::exp(static_cast<double>(-x)) - 1));
  }
  CHECK(worst < 3e-7);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(exp_of(0.f) == 1);
  CHECK(exp_of(-0.f) == 1);
  CHECK(exp_of(88.4f) == infinity);
  CHECK(exp_of(infinity) == infinity);
  CHECK(exp_of(-87.7f) == 0);
  CHECK(exp_of(-infinity) == 0);
  CHECK(std::isnan(exp_of(std::numeric_limits<float>::quiet_NaN())));
}
