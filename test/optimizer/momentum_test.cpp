// SPDX-License-Identifier: Apache-2.0
// momentum: its steps are its equation.
#include <vector>

#include "optimizer/equation_check.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/numbers/philox.hpp>
#include <lamina/optimizer/momentum.hpp>

namespace optimizer = lamina::optimizer;
using optimizer_check::compare;
using optimizer_check::numbers;
using optimizer_check::size;

TEST_CASE("steps of momentum are its equation: plain and with Nesterov's rule", "[optimizer]") {
  const double mu = 0.9f, lr = 0.05f;
  for (const bool nesterov : {false, true})
    compare(optimizer::momentum{.learning_rate = 0.05f, .momentum = 0.9f, .use_nesterov = nesterov},
            [=](numbers& p, const numbers& g, std::vector<numbers>& s, int) {
              numbers& v = s[0];
              for (std::size_t i = 0; i < size; ++i) {
                v[i] = mu * v[i] + g[i];
                p[i] -= nesterov ? lr * (g[i] + mu * v[i]) : lr * v[i];
              }
            });
}
