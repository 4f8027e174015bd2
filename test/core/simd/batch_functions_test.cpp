// SPDX-License-Identifier: Apache-2.0
// Exponentials, tanh and erf of vectors: errors, limits, edges.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/vector_edges.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/core/numbers/math.hpp>
#include <lamina/core/simd/batch_functions.hpp>
#include <lamina/engine/cpu/vector/simd.hpp>
#include <lamina/operators/activation/simple/definition.hpp>
#include <lamina/operators/activation/tunable/definition.hpp>
#include <lamina/operators/elementwise/clip/definition.hpp>
#include <lamina/operators/elementwise/compare/definition.hpp>
#include <lamina/operators/loss/pointwise/definition.hpp>

using lamina::engine::cpu::lanes;
using lamina::engine::cpu::vector;
using vector_edges::check_at_edges;
using vector_edges::of_vector;

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

TEMPLATE_TEST_CASE("activations with bounds let through what is not a number", "",
                   lamina::operators::relu, lamina::operators::clip, lamina::operators::relu6,
                   lamina::operators::brelu, lamina::operators::soft_relu,
                   lamina::operators::hard_sigmoid, lamina::operators::hard_swish) {
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
  // Every 3989th float from 2^-40 to the ends, 88.72 and -87.33.
  for (std::uint32_t bits = 0x2b800000u; bits < 0x42b170a4u; bits += 3989) {
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
  CHECK(exp_of(88.5f) == Approx(std::exp(88.5)).epsilon(3e-7));  // ncnn#1284
  CHECK(exp_of(88.73f) == infinity);
  CHECK(exp_of(infinity) == infinity);
  CHECK(exp_of(-100.f) == Approx(std::exp(-100.)).epsilon(2e-2));  // few digits are left
  CHECK(exp_of(-104.f) == 0);
  CHECK(exp_of(-infinity) == 0);
  CHECK(std::isnan(exp_of(std::numeric_limits<float>::quiet_NaN())));
}

// tenstorrent/tt-metal#9910, microsoft/onnxruntime#10576
TEMPLATE_TEST_CASE("cancellation: functions of small numbers keep their digits", "", float,
                   double) {
  using T = TestType;
  const auto softplus = [](long double x) {
    return (x > 0 ? x : 0) + std::log1p(std::exp(x > 0 ? -x : x)) + (x != x ? x : 0);
  };
  check_at_edges<T>(
      "softplus", [](auto x) { return lamina::operators::softplus::f(x); }, softplus);
  check_at_edges<T>(
      "logsigmoid",  // whose zero has no sign of its own
      [](auto x) { return decltype(x)(lamina::operators::logsigmoid::f(x) + decltype(x)(0)); },
      [&](long double x) { return 0 - static_cast<T>(softplus(-x)); });
  check_at_edges<T>(
      "soft_relu", [](auto x) { return lamina::operators::soft_relu::f(x, decltype(x)(1e4f)); },
      [&](long double x) {
        return softplus(x > 1e4L ? 1e4L : x < -1e4L ? -1e4L : x);
      });
  check_at_edges<T>(
      "elu", [](auto x) { return lamina::operators::elu::f(x, decltype(x)(1)); },
      [](long double x) { return x > 0 ? x : std::expm1(x); });
  check_at_edges<T>(
      "selu",
      [](auto x) { return lamina::operators::selu::f(x, decltype(x)(2), decltype(x)(1.5f)); },
      [](long double x) { return 2 * (x > 0 ? x : 1.5L * std::expm1(x)); });
  check_at_edges<T>(
      "tanh_shrink", [](auto x) { return lamina::operators::tanh_shrink::f(x); },
      [](long double x) {
        const long double size = std::abs(x);
        return size < 1e-3L ? x * x * x / 3 * (1 - x * x * 2 / 5) : x - std::tanh(x);
      },
      3e-6);
  for (const double x : {-80., -20., -3., -1., -1e-3, -1e-30, 0., 1e-30, 1e-3, 1., 3., 20., 80.}) {
    const double tanh = std::tanh(std::log1p(std::exp(x)));
    const T found =
        of_vector<T>([](auto v) { return lamina::operators::mish::f(v, decltype(v)(20)); }, T(x));
    INFO("mish of " << x);
    CHECK(
        static_cast<double>(found) ==
        Approx(static_cast<double>(T(x)) * tanh).epsilon(std::is_same_v<T, float> ? 1e-6 : 1e-14));
  }
  check_at_edges<T>(
      "binary cost of 1", [](auto x) { return lamina::detail::binary_cost(x, decltype(x)(1)); },
      [&](long double x) { return softplus(-x); });
  check_at_edges<T>(
      "binary cost of 0", [](auto x) { return lamina::detail::binary_cost(x, decltype(x)(0)); },
      softplus);
}

// pytorch/pytorch#11752
TEMPLATE_TEST_CASE("0 times infinity: activations of infinite numbers", "", float, double) {
  using T = TestType;
  using limits = std::numeric_limits<T>;
  const auto at = [](auto f, T x) { return of_vector<T>(f, x); };
  const auto swish = [](auto x) { return lamina::operators::swish::f(x, decltype(x)(1)); };
  const auto mish = [](auto x) { return lamina::operators::mish::f(x, decltype(x)(20)); };
  const auto mish_slope = [](auto x) {
    return lamina::operators::mish::df(x, decltype(x)(1), decltype(x)(20));
  };
  const auto swish_slope = [](auto x) {
    return lamina::operators::swish::df(x, decltype(x)(1), decltype(x)(1));
  };
  const auto hard_swish = [](auto x) {
    using V = decltype(x);
    return lamina::operators::hard_swish::f(x, V(6), V(6), V(3));
  };
  const auto softsign = [](auto x) { return lamina::operators::softsign::f(x); };
  for (const T x : {-limits::infinity(), T(-1e30), limits::lowest()}) {
    CHECK(at(swish, x) == 0);
    CHECK(at(swish_slope, x) == 0);
    CHECK(at(mish, x) == 0);
    CHECK(at(mish_slope, x) == 0);
    CHECK(at(hard_swish, x) == 0);
    CHECK(at(softsign, x) == -1);
    for (const int approximate : {0, 1}) {
      CHECK(at([=](auto v) { return lamina::operators::gelu::f(v, decltype(v)(T(approximate))); },
               x) == 0);
      CHECK(at(
                [=](auto v) {
                  using V = decltype(v);
                  return lamina::operators::gelu::df(v, V(T(1)), V(T(approximate)));
                },
                x) == 0);
    }
  }
  for (const T x : {limits::infinity(), T(1e30)}) {
    CHECK(at(swish, x) == x);
    CHECK(at(swish_slope, x) == 1);
    CHECK(at(mish, x) == x);
    CHECK(at(mish_slope, x) == 1);
    CHECK((at(hard_swish, x) == x || std::abs(at(hard_swish, x) / x - 1) < T(1e-6)));
    CHECK(at(softsign, x) == 1);
    for (const int approximate : {0, 1})
      CHECK(at(
                [=](auto v) {
                  using V = decltype(v);
                  return lamina::operators::gelu::df(v, V(T(1)), V(T(approximate)));
                },
                x) == 1);
  }
  for (const auto& f : {at(swish, limits::quiet_NaN()), at(hard_swish, limits::quiet_NaN()),
                        at(softsign, limits::quiet_NaN()), at(mish, limits::quiet_NaN()),
                        at(mish_slope, limits::quiet_NaN())})
    CHECK(std::isnan(f));
}
