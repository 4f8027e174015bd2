// SPDX-License-Identifier: Apache-2.0
// test/operators/norm/group_norm_rows.hpp - one row per norm of the images of a sample.
#pragma once

#include <tuple>

#include <laws/operator_row.hpp>

#include <lamina/operators/norm/group_norm/layer.hpp>

namespace rows {

template <class To>
void group_norm(To& to) {
  namespace layer = lamina::layer;
  using laws::of_images;
  of_images(to, "group_norm", [](auto x) { return layer::group_norm<2>(x); });
  of_images(to, "instance_norm", [](auto x) { return layer::instance_norm(x); });
}

}  // namespace rows
