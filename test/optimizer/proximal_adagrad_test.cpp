// SPDX-License-Identifier: Apache-2.0
// proximal_adagrad: its steps are its equation.
#include <cmath>
#include <vector>

#include "optimizer/equation_check.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/numbers/philox.hpp>
#include <lamina/optimizer/proximal_adagrad.hpp>

namespace optimizer = lamina::optimizer;
using optimizer_check::compare;
using optimizer_check::numbers;
using optimizer_check::sign;
using optimizer_check::size;

TEST_CASE("steps of proximal_adagrad are its equation", "[optimizer]") {
  const double lr = 0.1f, l1 = 0.02f, l2 = 0.03f;
  compare(optimizer::proximal_adagrad{.learning_rate = 0.1f, .l1 = 0.02f, .l2 = 0.03f},
          [=](numbers& p, const numbers& g, std::vector<numbers>& s, int) {
            for (std::size_t i = 0; i < size; ++i) {
              s[0][i] += g[i] * g[i];
              const double z = s[0][i] > 0 ? p[i] - lr * g[i] / std::sqrt(s[0][i]) : p[i];
              p[i] = sign(z) * std::max(std::abs(z) - lr * l1, 0.0) / (1 + lr * l2);
            }
          });
}
