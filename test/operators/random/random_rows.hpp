// SPDX-License-Identifier: Apache-2.0
// test/operators/random/random_rows.hpp - one row per operator of random numbers that has a test
// mode.
#pragma once

#include <laws/operator_row.hpp>

namespace rows {

template <class To>
void random(To& to) {
  of_rows(to, "dropout_test", [](auto x) { return layer::dropout(x, 0.25f, {.is_test = true}); });
}

}  // namespace rows
