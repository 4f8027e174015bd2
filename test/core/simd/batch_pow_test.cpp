// SPDX-License-Identifier: Apache-2.0
// Powers of vectors follow IEEE 754.
#include <cmath>

#include "core/vector_edges.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/numbers/extremes.hpp>
#include <lamina/core/numbers/math.hpp>
#include <lamina/core/simd/batch_pow.hpp>

using vector_edges::check_at_edges;
using vector_edges::edges;

// PaddlePaddle/Paddle#45054, vgvassilev/clad#1383
TEMPLATE_TEST_CASE("pow of vectors follows IEEE 754", "", float, double) {
  using T = TestType;
  for (const T y : edges<T>()) {
    INFO("to the power of " << y);
    check_at_edges<T>(
        "pow", [y](auto x) { return lamina::math::pow(x, decltype(x)(y)); },
        [y](T x) { return std::pow(x, y); }, 1e-5);
  }
}
