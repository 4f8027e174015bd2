// SPDX-License-Identifier: Apache-2.0
// proximal_gd: its steps are its equation.
#include <cmath>
#include <vector>

#include "optimizer/equation_check.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/numbers/philox.hpp>
#include <lamina/optimizer/proximal_gd.hpp>

namespace optimizer = lamina::optimizer;
using optimizer_check::compare;
using optimizer_check::numbers;
using optimizer_check::sign;
using optimizer_check::size;

TEST_CASE("steps of proximal_gd are its equation", "[optimizer]") {
  const double lr = 0.1f, l1 = 0.2f, l2 = 0.3f;
  compare(optimizer::proximal_gd{.learning_rate = 0.1f, .l1 = 0.2f, .l2 = 0.3f},
          [=](numbers& p, const numbers& g, std::vector<numbers>&, int) {
            for (std::size_t i = 0; i < size; ++i) {
              const double z = p[i] - lr * g[i];
              p[i] = sign(z) * std::max(std::abs(z) - lr * l1, 0.0) / (1 + lr * l2);
            }
          });
}
