// SPDX-License-Identifier: Apache-2.0
// A variance is never below 0: centred rmsprop under gradients that do not change, whose square's
// mean and mean's square differ by rounding only.
#include <cmath>

#include <catch2/catch.hpp>

#include <lamina/engine/cpu/simd.hpp>
#include <lamina/optimizer/rmsprop.hpp>

// CanReader/FastNN#12, apache/mxnet#6235
TEMPLATE_TEST_CASE("variance: centred rmsprop stays finite under steady gradients", "", float,
                   double, lamina::engine::cpu::vector) {
  using T = TestType;
  for (int i = 0; i < 200; ++i) {
    const T grad(static_cast<float>(3 * (1 + i / 200.)));
    T param(0), moment(0), mean_square(0), mean_grad(0);
    for (int step = 0; step < 1000; ++step)
      lamina::optimizer::rmsprop::update<T>(param, grad, moment, mean_square, mean_grad, T(1e-6f),
                                            T(0.95f), T(1e-6f), T(0), T(1));
    const auto size = lamina::math::abs(param);
    INFO("gradient " << 3 * (1 + i / 200.));
    CHECK(!lamina::math::any(!(size < T(1e6f))));
  }
}
