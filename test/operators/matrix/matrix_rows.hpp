// SPDX-License-Identifier: Apache-2.0
// test/operators/matrix/matrix_rows.hpp - one row per product of matrices.
#pragma once

#include <laws/operator_row.hpp>

namespace rows {

template <class To>
void matrix(To& to) {
  to.write("mul", []<class T>(block& main) {
    return squared(layer::fc<3>(layer::data<"x", T, 4>(main), {.bias = false}));
  });
  to.write("fc", []<class T>(block& main) {
    auto x = layer::data<"x", T, 2, 4>(main);
    return squared(layer::fc<3>(x, {.act = lamina::activation::tanh}));
  });
  to.write("matmul", []<class T>(block& main) {
    auto x = layer::data<"x", T, 2, 4>(main);
    return squared(layer::matmul(x, layer::data<"y", T, 4, 3>(main)));
  });
  to.write("matmul_transposed", []<class T>(block& main) {
    auto x = layer::data<"x", T, 4, 2>(main);
    return squared(layer::matmul<layer::matmul_form{.transpose_x = true, .transpose_y = true}>(
        x, layer::data<"y", T, 3, 4>(main), {.alpha = 0.5f}));
  });
  to.write("matmul_skip_zeros", []<class T>(block& main) {
    auto x = layer::relu(layer::data<"x", T, 2, 4>(main));
    return squared(layer::matmul(x, layer::data<"y", T, 4, 3>(main),
                                 {.skip_zeros = true, .skip_zero_grads = true}));
  });
}

}  // namespace rows
