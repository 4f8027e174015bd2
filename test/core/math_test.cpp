// SPDX-License-Identifier: Apache-2.0
// Functions of vectors are those of numbers at the edges.
#include <cstdint>

#include "core/vector_edges.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/extremes.hpp>
#include <lamina/core/math.hpp>
#include <lamina/engine/cpu/vector/simd.hpp>
#include <lamina/operators/activation/simple/definition.hpp>
#include <lamina/operators/activation/tunable/definition.hpp>
#include <lamina/operators/elementwise/clip/definition.hpp>
#include <lamina/operators/elementwise/compare/definition.hpp>
#include <lamina/operators/loss/pointwise/definition.hpp>

using vector_edges::check_at_edges;

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

}  // namespace

// stan-dev/math#3031, PaddlePaddle/Paddle#45054
TEMPLATE_TEST_CASE("vector functions agree with std at the edges", "", float, double) {
  namespace math = lamina::math;
  using T = TestType;
#define LAMINA_CHECK_EDGES(name) \
  check_at_edges<T>(             \
      #name, [](auto x) { return math::name(x); }, [](T x) { return std::name(x); })
  LAMINA_CHECK_EDGES(exp);
  LAMINA_CHECK_EDGES(expm1);
  LAMINA_CHECK_EDGES(log);
  LAMINA_CHECK_EDGES(sqrt);
  LAMINA_CHECK_EDGES(tanh);
  LAMINA_CHECK_EDGES(erf);
  LAMINA_CHECK_EDGES(sin);
  LAMINA_CHECK_EDGES(cos);
  LAMINA_CHECK_EDGES(asin);
  LAMINA_CHECK_EDGES(acos);
  LAMINA_CHECK_EDGES(atan);
  LAMINA_CHECK_EDGES(floor);
  LAMINA_CHECK_EDGES(ceil);
  LAMINA_CHECK_EDGES(round);
  LAMINA_CHECK_EDGES(abs);
#undef LAMINA_CHECK_EDGES
}
