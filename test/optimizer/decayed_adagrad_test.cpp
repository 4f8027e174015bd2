// SPDX-License-Identifier: Apache-2.0
// decayed_adagrad: its steps are its equation.
#include <cmath>
#include <vector>

#include "optimizer/equation_check.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/numbers/philox.hpp>
#include <lamina/optimizer/decayed_adagrad.hpp>

namespace optimizer = lamina::optimizer;
using optimizer_check::compare;
using optimizer_check::numbers;
using optimizer_check::size;

TEST_CASE("steps of decayed_adagrad are its equation", "[optimizer]") {
  compare(optimizer::decayed_adagrad{.learning_rate = 0.01f, .epsilon = 0.01f},
          [](numbers& p, const numbers& g, std::vector<numbers>& s, int) {
            for (std::size_t i = 0; i < size; ++i) {
              s[0][i] = 0.95f * s[0][i] + (1 - static_cast<double>(0.95f)) * g[i] * g[i];
              p[i] -= 0.01f * g[i] / (std::sqrt(s[0][i]) + 0.01f);
            }
          });
}
