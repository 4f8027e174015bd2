// SPDX-License-Identifier: Apache-2.0
// ftrl: its steps are its equation.
#include <cmath>
#include <vector>

#include "optimizer/equation_check.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/numbers/philox.hpp>
#include <lamina/optimizer/ftrl.hpp>

namespace optimizer = lamina::optimizer;
using optimizer_check::compare;
using optimizer_check::numbers;
using optimizer_check::sign;
using optimizer_check::size;

TEST_CASE("steps of ftrl are its equation: with the root and with another power", "[optimizer]") {
  const double lr = 0.1f, l1 = 0.05f, l2 = 0.02f;
  for (const float power : {-0.5f, -0.75f})
    compare(
        optimizer::ftrl{.learning_rate = 0.1f, .l1 = 0.05f, .l2 = 0.02f, .lr_power = power},
        [=](numbers& p, const numbers& g, std::vector<numbers>& s, int) {
          for (std::size_t i = 0; i < size; ++i) {
            double &n = s[0][i], &z = s[1][i];
            const double next = n + g[i] * g[i];
            z += g[i] - (std::pow(next, -power) - std::pow(n, -power)) / lr * p[i];
            n = next;
            const double y = std::pow(n, -power) / lr + 2 * l2;
            p[i] = std::abs(z) > l1 ? (sign(z) * l1 - z) / y : 0;
          }
        },
        2e-4);
}
