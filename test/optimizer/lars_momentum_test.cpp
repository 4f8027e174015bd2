// SPDX-License-Identifier: Apache-2.0
// lars_momentum: its steps are its equation.
#include <vector>

#include "optimizer/equation_check.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/numbers/philox.hpp>
#include <lamina/optimizer/lars_momentum.hpp>

namespace optimizer = lamina::optimizer;
using optimizer_check::compare;
using optimizer_check::length;
using optimizer_check::numbers;
using optimizer_check::size;

TEST_CASE("steps of lars_momentum are its equation", "[optimizer]") {
  const double mu = 0.8f, lr = 2.f, coeff = 0.01f, decay = 0.05f;
  compare(
      optimizer::lars_momentum{
          .learning_rate = 2.f, .momentum = 0.8f, .lars_coeff = 0.01f, .lars_weight_decay = 0.05f},
      [=](numbers& p, const numbers& g, std::vector<numbers>& s, int) {
        const double rate = lr * coeff * length(p) / (length(g) + decay * length(p));
        for (std::size_t i = 0; i < size; ++i) {
          s[0][i] = mu * s[0][i] + rate * (g[i] + decay * p[i]);
          p[i] -= s[0][i];
        }
      });
}
