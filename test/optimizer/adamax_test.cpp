// SPDX-License-Identifier: Apache-2.0
// adamax: its steps are its equation.
#include <cmath>
#include <vector>

#include "optimizer/equation_check.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/numbers/philox.hpp>
#include <lamina/optimizer/adamax.hpp>

namespace optimizer = lamina::optimizer;
using optimizer_check::compare;
using optimizer_check::numbers;
using optimizer_check::size;

TEST_CASE("steps of adamax are its equation", "[optimizer]") {
  const double lr = 0.01f, b1 = 0.9f, b2 = 0.999f, epsilon = 0.01f;
  compare(
      optimizer::adamax{.learning_rate = 0.01f, .epsilon = 0.01f},
      [=](numbers& p, const numbers& g, std::vector<numbers>& s, int t) {
        for (std::size_t i = 0; i < size; ++i) {
          s[0][i] = b1 * s[0][i] + (1 - b1) * g[i];
          s[1][i] = std::max(std::abs(g[i]), b2 * s[1][i] + epsilon);
          p[i] -= lr / (1 - std::pow(b1, t)) * s[0][i] / s[1][i];
        }
      },
      2e-5, 1e-7);  // the corrected rate is a float
}
