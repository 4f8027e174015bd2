// SPDX-License-Identifier: Apache-2.0
// test/operators/norm/norm_rows.hpp - one row per norm.
#pragma once

#include <laws/operator_row.hpp>

#include <lamina/operators/norm/batch_norm/layer.hpp>
#include <lamina/operators/norm/layer_norm/layer.hpp>
#include <lamina/operators/norm/lrn/layer.hpp>

namespace rows {

template <class To>
void norm(To& to) {
  to.write("cos_sim", []<class T>(block& main) {
    auto x = layer::data<"x", T, 4>(main);
    return squared(layer::cos_sim(x, layer::data<"y", T, 4>(main)));
  });
  of_rows(to, "layer_norm", [](auto x) { return layer::layer_norm(x); });
  of_rows(to, "norm", [](auto x) { return layer::l2_normalize(x); });
  of_images(to, "batch_norm",
            [](auto x) { return layer::batch_norm(x, {.use_global_stats = true}); });
  of_images(to, "batch_norm_training", [](auto x) { return layer::batch_norm(x); },
            {.low = 0.1f, .high = 1, .row_alone = false});
  of_images(to, "group_norm", [](auto x) { return layer::group_norm<2>(x); });
  of_images(to, "instance_norm", [](auto x) { return layer::instance_norm(x); });
  of_images(to, "lrn", [](auto x) { return layer::lrn(x, {.n = 3, .alpha = 0.1f}); });
}

}  // namespace rows
