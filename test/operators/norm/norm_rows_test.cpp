// SPDX-License-Identifier: Apache-2.0
// The rows of this group obey the laws of all operators.
#include "operators/norm/norm_rows.hpp"

#include "laws/operator_laws.hpp"
#include <catch2/catch.hpp>

TEST_CASE("rows of norm obey the laws of all operators") {
  laws::operator_laws laws;
  rows::norm(laws);
}
