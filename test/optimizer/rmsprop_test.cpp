// SPDX-License-Identifier: Apache-2.0
// rmsprop: its steps are its equation.
#include <cmath>
#include <vector>

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
#include <lamina/optimizer/rmsprop.hpp>

namespace optimizer = lamina::optimizer;
using optimizer_check::compare;
using optimizer_check::numbers;
using optimizer_check::size;

TEST_CASE("steps of rmsprop are its equation: plain, with momentum and centered", "[optimizer]") {
  const double lr = 0.01f, rho = 0.95f, epsilon = 0.01f;
  for (const bool centered : {false, true})
    for (const float mu : {0.f, 0.5f})
      compare(
          optimizer::rmsprop{
              .learning_rate = 0.01f, .epsilon = 0.01f, .momentum = mu, .centered = centered},
          [=](numbers& p, const numbers& g, std::vector<numbers>& s, int) {
            for (std::size_t i = 0; i < size; ++i) {
              double &mom = s[0][i], &square = s[1][i], &mean = s[2][i];
              square = rho * square + (1 - rho) * g[i] * g[i];
              if (centered) {
                mean = rho * mean + (1 - rho) * g[i];
                mom = mu * mom + lr * g[i] / std::sqrt(square - mean * mean + epsilon);
              } else {
                mom = mu * mom + lr * g[i] / std::sqrt(square + epsilon);
              }
              p[i] -= mom;
            }
          });
}

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
