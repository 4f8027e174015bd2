// SPDX-License-Identifier: Apache-2.0
// laws/block_gradient_law.hpp - gradients through loops and branches are the limits of difference
// quotients, and the compiled engine computes what the executor does. Errors are measured against
// the largest gradient, which must not be small: where all gradients are tiny, wrong ones would
// pass.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <laws/engine_law.hpp>
#include <laws/gradient_check.hpp>

namespace laws {

/// Compares all gradients of parameters and floating feeds with central differences in double, then
/// them and the outputs on the engine with those on the executor, for other feeds; where rows are
/// said to be alone, for full vectors and for each row alone too.
template <class P>
void check_block_gradients(P program, lamina::feed_map feed = {},
                           const gradient_options& options = {}, bool rows_are_alone = false) {
  constexpr auto made = lamina::with_backward<P, true>{};
  double largest = 0, worst = 0;
  std::string where = "nothing";
  for_each_gradient(P::view(), made.view(), std::move(feed), options,
                    [&](const compared_element& e) {
                      const double error = std::abs(e.gradient - e.quotient);
                      largest = std::max(largest, std::abs(e.quotient));
                      if (error <= worst) return;
                      worst = error;
                      where = e.where();
                    });
  INFO("worst: " << where << "; largest gradient " << largest);
  CHECK(largest > 0.1);
  CHECK(worst <= 1e-7 * largest);
  lamina::law::check_engine(program, {.low = options.low,
                                      .high = options.high,
                                      .rows_are_alone = rows_are_alone,
                                      .batches = {1, rows_are_alone ? 17 : 5}});
}

}  // namespace laws
