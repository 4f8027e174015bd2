// SPDX-License-Identifier: Apache-2.0
// test/operators/fill/fill_rows.hpp - one row per constant of a main program.
#pragma once

#include <laws/operator_row.hpp>
#include <operators/fill/held_values.hpp>

namespace rows {

template <class To>
void fill(To& to) {
  to.write("assign_value",
           []<class T>(block& main) {
             auto held = layer::cast<T>(three_values(main));
             return squared(layer::elementwise_mul(layer::data<"x", T, 3>(main), held));
           },
           {.gradients = false, .edges = edge_kind::none});
}

}  // namespace rows
