// SPDX-License-Identifier: Apache-2.0
// test/operators/loss/in_batch_rows.hpp - costs of each row against all rows. Other libraries
// compose them, so these rows are not among those that are written for them.
#pragma once

#include <laws/operator_row.hpp>

namespace rows {

template <class To>
void in_batch(To& to) {
  to.write("in_batch_cross_entropy",
           []<class T>(block& main) {
             auto x = layer::data<"x", T, 5>(main);
             return squared(layer::in_batch_cross_entropy(x, layer::data<"y", T, 5>(main)));
           },
           {.rows = 4, .row_alone = false});
  to.write(
      "in_batch_cross_entropy with labels",
      []<class T>(block& main) {
        auto x = layer::data<"x", T, 3>(main);
        auto y = layer::data<"y", T, 3>(main);
        return squared(layer::in_batch_cross_entropy(x, y, layer::data<"label", integer>(main)));
      },
      {.feed = {{"label", tensor({5, 1}, std::vector<integer>{7, -2, 7, 7, 3})}},
       .rows = 5,
       .row_alone = false});
}

}  // namespace rows
