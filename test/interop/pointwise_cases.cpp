// SPDX-License-Identifier: Apache-2.0
// Cases of the rows of operators that work element by element, and of costs.
#include <interop/case_writer.hpp>
#include <operators/activation/activation_rows.hpp>
#include <operators/elementwise/elementwise_rows.hpp>
#include <operators/loss/loss_rows.hpp>
#include <operators/random/random_rows.hpp>

namespace interop {

void write_pointwise_cases(case_writer& to) {
  rows::activation(to);
  rows::elementwise(to);
  rows::loss(to);
  rows::random(to);
}

}  // namespace interop
