// SPDX-License-Identifier: Apache-2.0
// test/operators/order/order_rows.hpp - one row per operator that orders elements.
#pragma once

#include <laws/operator_row.hpp>

namespace rows {

template <class To>
void order(To& to) {
  of_rows(to, "argsort", [](auto x) { return std::get<0>(layer::argsort(x)); });
  of_matrices(to, "argsort_descending",
              [](auto x) { return std::get<0>(layer::argsort<1>(x, {.descending = true})); });
  to.write("argsort_indices",
           []<class T>(block& main) {
             return std::get<1>(layer::argsort(layer::data<"x", T, 4>(main)));
           },
           {.gradients = false});
  to.write("arg_max",
           []<class T>(block& main) { return layer::argmax<1>(layer::data<"x", T, 4>(main)); },
           {.gradients = false});
  to.write("arg_min",
           []<class T>(block& main) { return layer::argmin<0>(layer::data<"x", T, 2, 4>(main)); },
           {.gradients = false});
}

}  // namespace rows
