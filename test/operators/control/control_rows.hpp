// SPDX-License-Identifier: Apache-2.0
// test/operators/control/control_rows.hpp - one row per operator of programs' control that has a
// case outside of blocks.
#pragma once

#include <laws/operator_row.hpp>

namespace rows {

template <class To>
void control(To& to) {
  unary(to, "print", [](auto x) { return layer::print(x, {.first_n = 1, .summarize = 1}); });
}

}  // namespace rows
