// SPDX-License-Identifier: Apache-2.0
// Functions of vectors are those of numbers at the edges.
#include "core/vector_edges.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/numbers/math.hpp>

using vector_edges::check_at_edges;

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
