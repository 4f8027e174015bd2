// SPDX-License-Identifier: Apache-2.0
// The rows of this group obey the laws of all operators.
#include "operators/elementwise/elementwise_rows.hpp"

#include "laws/operator_laws.hpp"
#include <catch2/catch.hpp>

TEST_CASE("rows of elementwise obey the laws of all operators") {
  laws::operator_laws laws;
  rows::elementwise(laws);
}
