// SPDX-License-Identifier: Apache-2.0
// The rows of this group obey the laws of all operators.
#include "operators/control/control_rows.hpp"

#include "laws/operator_laws.hpp"
#include <catch2/catch.hpp>

TEST_CASE("rows of control obey the laws of all operators") {
  laws::operator_laws laws;
  rows::control(laws);
  rows::nested_control(laws);
}
