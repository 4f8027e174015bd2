// SPDX-License-Identifier: Apache-2.0
// The rows of this group obey the laws of all operators.
#include "operators/pool/pool_rows.hpp"

#include "laws/operator_laws.hpp"
#include <catch2/catch.hpp>

TEST_CASE("rows of pool obey the laws of all operators") {
  laws::operator_laws laws;
  rows::pool(laws);
}
