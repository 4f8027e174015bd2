// SPDX-License-Identifier: Apache-2.0
// The defaults of all optimizers are those of Fluid; steps without a gradient and an epsilon.

#include "optimizer/equation_check.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/numbers/philox.hpp>
#include <lamina/engine/cpu/vector/simd.hpp>
#include <lamina/optimizer/adadelta.hpp>
#include <lamina/optimizer/adagrad.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/optimizer/adamax.hpp>
#include <lamina/optimizer/decayed_adagrad.hpp>
#include <lamina/optimizer/lamb.hpp>
#include <lamina/optimizer/optimizers.hpp>
#include <lamina/optimizer/rmsprop.hpp>

namespace optimizer = lamina::optimizer;

TEST_CASE("defaults are Fluid's", "[optimizer]") {
  CHECK(optimizer::adam{}.learning_rate.at(0) == 0.001f);
  CHECK(optimizer::adam{}.epsilon == 1e-8f);
  CHECK(optimizer::adagrad{}.epsilon == 1e-6f);
  CHECK(optimizer::adamax{}.beta2 == 0.999f);
  CHECK(optimizer::decayed_adagrad{}.decay == 0.95f);
  CHECK(optimizer::adadelta{}.rho == 0.95f);
  CHECK(optimizer::rmsprop{}.epsilon == 1e-6f);
  CHECK(optimizer::ftrl{}.lr_power == -0.5f);
  CHECK(optimizer::lamb{}.lamb_weight_decay == 0.01f);
  CHECK(optimizer::lamb{}.epsilon == 1e-6f);
  CHECK(optimizer::lars_momentum{}.lars_coeff == 0.001f);
  CHECK(optimizer::lars_momentum{}.lars_weight_decay == 0.0005f);
}

// ml-explore/mlx#3712, google-deepmind/optax#1553
TEMPLATE_TEST_CASE("0 by 0: steps without a gradient and an epsilon", "", float, double,
                   lamina::engine::cpu::vector) {
  using T = TestType;
  namespace optimizer = lamina::optimizer;
  for (const float grad : {0.f, 1e-30f}) {
    const T g(grad), rate(0.1f), b1(0.9f), b2(0.999f), zero(0);
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
      INFO("optimizer " << i << ", gradient " << grad);
      CHECK(!lamina::math::any(!(lamina::math::abs(T(p[i] - T(2))) <= T(0.5f))));
    }
  }
}
