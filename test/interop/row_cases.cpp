// SPDX-License-Identifier: Apache-2.0
// Cases of the rows of operators over rows and shapes.
#include <interop/case_writer.hpp>
#include <operators/embedding/embedding_rows.hpp>
#include <operators/matrix/matrix_rows.hpp>
#include <operators/metric/metric_rows.hpp>
#include <operators/norm/norm_rows.hpp>
#include <operators/order/order_rows.hpp>
#include <operators/reduce/reduce_rows.hpp>
#include <operators/shape/shape_rows.hpp>

namespace interop {

void write_row_cases(case_writer& to) {
  rows::matrix(to);
  rows::embedding(to);
  rows::reduce(to);
  rows::order(to);
  rows::shape(to);
  rows::metric(to);
  rows::norm(to);
}

}  // namespace interop
