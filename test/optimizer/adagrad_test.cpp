// SPDX-License-Identifier: Apache-2.0
// adagrad: its steps are its equation.
#include <cmath>
#include <vector>

#include "optimizer/equation_check.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/numbers/philox.hpp>
#include <lamina/optimizer/adagrad.hpp>

namespace optimizer = lamina::optimizer;
using optimizer_check::compare;
using optimizer_check::numbers;
using optimizer_check::size;

TEST_CASE("steps of adagrad are its equation", "[optimizer]") {
  for (const float start : {0.f, 0.1f})
    compare(
        optimizer::adagrad{
            .learning_rate = 0.1f, .epsilon = 0.01f, .initial_accumulator_value = start},
        [](numbers& p, const numbers& g, std::vector<numbers>& s, int) {
          for (std::size_t i = 0; i < size; ++i) {
            s[0][i] += g[i] * g[i];
            p[i] -= 0.1f * g[i] / (std::sqrt(s[0][i]) + 0.01f);
          }
        });
}
