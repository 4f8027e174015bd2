// SPDX-License-Identifier: Apache-2.0
// lamb: its steps are its equation.
#include <cmath>
#include <vector>

#include "optimizer/equation_check.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/numbers/philox.hpp>
#include <lamina/optimizer/lamb.hpp>
#include <lamina/optimizer/lars_momentum.hpp>

namespace optimizer = lamina::optimizer;
using optimizer_check::compare;
using optimizer_check::length;
using optimizer_check::numbers;
using optimizer_check::size;

TEST_CASE("steps of lamb are its equation", "[optimizer]") {
  const double lr = 0.01f, decay = 0.01f, b1 = 0.9f, b2 = 0.999f, epsilon = 0.01f;
  compare(optimizer::lamb{.learning_rate = 0.01f, .epsilon = 0.01f},
          [=](numbers& p, const numbers& g, std::vector<numbers>& s, int) {
            numbers u(size);
            for (std::size_t i = 0; i < size; ++i) {
              s[0][i] = b1 * s[0][i] + (1 - b1) * g[i];
              s[1][i] = b2 * s[1][i] + (1 - b2) * g[i] * g[i];
              u[i] = s[0][i] / (std::sqrt(s[1][i]) + epsilon) + decay * p[i];
            }
            const double ratio = length(p) / length(u);
            for (std::size_t i = 0; i < size; ++i) p[i] -= lr * ratio * u[i];
          });
}

TEST_CASE("norms of 0 leave the plain rate", "[optimizer]") {
  float param = 0.5f, velocity = 0;
  optimizer::lars_momentum::update(param, 0.f, velocity, 0.1f, 0.9f, 0.001f, 0.5f, 0.5f, 0.f);
  CHECK(velocity == Approx(0.1 * 0.5 * 0.5));
  CHECK(param == Approx(0.475));

  float weight = 0, first = 0, second = 0;
  const float u = optimizer::lamb::normed(0.f, 1.f, 0.f, 0.f, 0.1f, 0.9f, 0.999f, 1e-6f, 0.01f);
  optimizer::lamb::update(weight, 1.f, first, second, 0.1f, 0.9f, 0.999f, 1e-6f, 0.01f, 0.f, u);
  CHECK(weight == Approx(-0.1 * u));
  CHECK(first == Approx(0.1));
}
