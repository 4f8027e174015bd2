// SPDX-License-Identifier: Apache-2.0
// test/operators/reduce/reduce_rows.hpp - one row per reduction.
#pragma once

#include <laws/operator_row.hpp>

namespace rows {

template <class To>
void reduce(To& to) {
  of_rows(to, "mean", [](auto x) { return layer::mean(x); });
  of_matrices(to, "reduce_sum", [](auto x) { return layer::reduce_sum<1>(x); });
  of_matrices(to, "reduce_sum_all", [](auto x) { return layer::reduce_sum(x); });
  of_matrices(to, "reduce_sum_keep",
              [](auto x) { return layer::reduce_sum<2>(x, layer::keep_dim); });
  of_matrices(to, "reduce_mean", [](auto x) { return layer::reduce_mean<1>(x); });
  of_matrices(to, "reduce_max", [](auto x) { return layer::reduce_max<2>(x); });
  of_matrices(to, "reduce_min", [](auto x) { return layer::reduce_min<2>(x); });
  of_matrices(
      to, "reduce_prod", [](auto x) { return layer::reduce_prod<2>(x); }, positive);
  to.write("reduce_all",
           []<class T>(block& main) {
             auto x = layer::data<"x", T, 4>(main);
             return layer::reduce_all<1>(layer::greater_than(x, layer::scale(x, 0.1f)));
           },
           {.gradients = false});
  to.write("reduce_any",
           []<class T>(block& main) {
             auto x = layer::data<"x", T, 4>(main);
             return layer::reduce_any<1>(layer::greater_than(x, layer::scale(x, 0.1f)));
           },
           {.gradients = false});
  of_matrices(to, "cumsum", [](auto x) { return layer::cumsum<1>(x); });
  of_matrices(to, "cumsum_reverse",
              [](auto x) { return layer::cumsum(x, {.exclusive = true, .reverse = true}); });
  of_matrices(to, "l1_norm", [](auto x) { return layer::l1_norm(x); });
  of_matrices(to, "squared_l2_norm", [](auto x) { return layer::squared_l2_norm(x); });
  to.write("squared_l2_distance", []<class T>(block& main) {
    auto x = layer::data<"x", T, 4>(main);
    return squared(layer::squared_l2_distance(x, layer::data<"y", T, 4>(main)));
  });
}

}  // namespace rows
