// SPDX-License-Identifier: Apache-2.0
// The rows of this group obey the laws of all operators.
#include "operators/decode/decode_rows.hpp"

#include "laws/operator_laws.hpp"
#include <catch2/catch.hpp>

TEST_CASE("rows of decode obey the laws of all operators") {
  laws::operator_laws laws;
  rows::decode(laws);
}
