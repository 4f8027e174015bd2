// SPDX-License-Identifier: Apache-2.0
// A variance is never below 0: centred rmsprop under gradients that do not change, whose square's
// mean and mean's square differ by rounding only. And steps without a gradient, or with one whose
// square is 0, of optimizers that divide by its root and have no epsilon.
#include <cmath>

#include <catch2/catch.hpp>

#include <lamina/engine/cpu/vector/simd.hpp>
#include <lamina/optimizer/adadelta.hpp>
#include <lamina/optimizer/adagrad.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/optimizer/adamax.hpp>
#include <lamina/optimizer/decayed_adagrad.hpp>
#include <lamina/optimizer/lamb.hpp>
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
// ml-explore/mlx#3712, google-deepmind/optax#1553
TEMPLATE_TEST_CASE("0 by 0: steps without a gradient and an epsilon", "", float, double,
                   lamina::engine::cpu::vector) {
  using T = TestType;
  namespace optimizer = lamina::optimizer;
  for (const float slope : {0.f, 1e-30f}) {
    const T g(slope), rate(0.1f), b1(0.9f), b2(0.999f), zero(0);
    T p[7] = {T(2), T(2), T(2), T(2), T(2), T(2), T(2)};
    T a[7] = {}, b[7] = {}, c(0);
    for (T& x : a) x = zero;
    for (T& x : b) x = zero;
    optimizer::adagrad::update<T>(p[0], g, a[0], rate, zero);
    optimizer::decayed_adagrad::update<T>(p[1], g, a[1], rate, b1, zero);
    optimizer::adam::update<T>(p[2], g, a[2], b[2], rate, b1, b2, zero);
    optimizer::adamax::update<T>(p[3], g, a[3], b[3], rate, b1, b2, zero);
    optimizer::adadelta::update<T>(p[4], g, a[4], b[4], rate, zero, b1);
    optimizer::rmsprop::update<T>(p[5], g, a[5], b[5], c, rate, b1, zero, zero, zero);
    for (int i = 0; i < 6; ++i) {
      INFO("optimizer " << i << ", gradient " << slope);
      CHECK(!lamina::math::any(!(lamina::math::abs(T(p[i] - T(2))) <= T(0.5f))));
    }
  }
}
