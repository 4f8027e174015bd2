// SPDX-License-Identifier: Apache-2.0
// adadelta: its steps are its equation.
#include <cmath>
#include <vector>

#include "optimizer/equation_check.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/numbers/philox.hpp>
#include <lamina/optimizer/adadelta.hpp>

namespace optimizer = lamina::optimizer;
using optimizer_check::compare;
using optimizer_check::numbers;
using optimizer_check::size;

TEST_CASE("adadelta ignores the learning rate", "[optimizer]") {
  const double rho = 0.95f, epsilon = 1e-4f;
  for (const float rate : {1e-3f, 10.f})
    compare(optimizer::adadelta{.learning_rate = rate, .epsilon = 1e-4f},
            [=](numbers& p, const numbers& g, std::vector<numbers>& s, int) {
              for (std::size_t i = 0; i < size; ++i) {
                s[0][i] = rho * s[0][i] + (1 - rho) * g[i] * g[i];
                const double delta = -std::sqrt((s[1][i] + epsilon) / (s[0][i] + epsilon)) * g[i];
                s[1][i] = rho * s[1][i] + (1 - rho) * delta * delta;
                p[i] += delta;
              }
            });
}
