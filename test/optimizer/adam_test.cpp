// SPDX-License-Identifier: Apache-2.0
// adam: its steps are its equation.
#include <cmath>
#include <vector>

#include "optimizer/equation_check.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/numbers/philox.hpp>
#include <lamina/optimizer/adam.hpp>

namespace optimizer = lamina::optimizer;
using optimizer_check::compare;
using optimizer_check::numbers;
using optimizer_check::size;

TEST_CASE("steps of adam are its equation", "[optimizer]") {
  const double lr = 0.01f, b1 = 0.9f, b2 = 0.999f, epsilon = 0.01f;
  compare(
      optimizer::adam{.learning_rate = 0.01f, .epsilon = 0.01f},
      [=](numbers& p, const numbers& g, std::vector<numbers>& s, int t) {
        // Beta powers start at beta and are multiplied after each update.
        double power1 = b1, power2 = b2;
        for (int k = 1; k < t; ++k) power1 *= b1, power2 *= b2;
        for (std::size_t i = 0; i < size; ++i) {
          s[0][i] = b1 * s[0][i] + (1 - b1) * g[i];
          s[1][i] = b2 * s[1][i] + (1 - b2) * g[i] * g[i];
          p[i] -=
              lr * std::sqrt(1 - power2) / (1 - power1) * s[0][i] / (std::sqrt(s[1][i]) + epsilon);
        }
      },
      2e-5, 1e-7);  // the corrected rate is a float
}

TEST_CASE("adam's first step with gradient 1 is the learning rate", "[optimizer]") {
  const optimizer::adam adam{.learning_rate = 0.02f};
  const auto s = adam.scalars(0);
  CHECK(s[0] == Approx(0.02 * std::sqrt(1 - 0.999) / (1 - 0.9)).epsilon(1e-5));
  CHECK(adam.scalars(9)[0] ==
        Approx(0.02 * std::sqrt(1 - std::pow(0.999, 10)) / (1 - std::pow(0.9, 10))).epsilon(1e-5));
  float param = 1, m = 0, v = 0;
  optimizer::adam::update(param, 1.f, m, v, s[0], s[1], s[2], s[3]);
  CHECK(param == Approx(1 - 0.02).epsilon(1e-6));
}
