// SPDX-License-Identifier: Apache-2.0
// test/operators/norm/lrn_rows.hpp - the row of norms across neighbouring channels.
#pragma once

#include <tuple>

#include <laws/operator_row.hpp>

#include <lamina/operators/norm/lrn/layer.hpp>

namespace rows {

template <class To>
void lrn(To& to) {
  namespace layer = lamina::layer;
  using laws::of_images;
  of_images(to, "lrn", [](auto x) { return layer::lrn(x, {.n = 3, .alpha = 0.1f}); });
}

}  // namespace rows
