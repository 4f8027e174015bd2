// SPDX-License-Identifier: Apache-2.0
// laws/block_gradient_law.hpp - the law of gradients through loops and branches: they are the
// limits of difference quotients, and the compiled engine computes the same gradients as the
// executor. Errors are measured relative to the largest gradient. That gradient must not be small,
// because wrong gradients would pass the check if all of them were tiny.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <laws/engine_law.hpp>
#include <laws/gradient_check.hpp>

namespace laws {

/// Compares all gradients of parameters and floating feeds with central differences in double. Then
/// compares the gradients and outputs of the engine with those of the executor, for other feeds. If
/// `rows_are_alone` is set, this is done for full vectors and for each row alone too.
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
