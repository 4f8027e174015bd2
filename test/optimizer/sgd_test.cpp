// SPDX-License-Identifier: Apache-2.0
// sgd: its steps are its equation.
#include <vector>

#include "optimizer/equation_check.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/numbers/philox.hpp>
#include <lamina/optimizer/sgd.hpp>

namespace optimizer = lamina::optimizer;
using optimizer_check::compare;
using optimizer_check::numbers;
using optimizer_check::size;

TEST_CASE("steps of sgd are its equation", "[optimizer]") {
  compare(optimizer::sgd{.learning_rate = 0.125f},
          [](numbers& p, const numbers& g, std::vector<numbers>&, int) {
            for (std::size_t i = 0; i < size; ++i) p[i] -= 0.125 * g[i];
          });
}
