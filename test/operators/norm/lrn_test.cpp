// SPDX-License-Identifier: Apache-2.0
// lrn: the laws of all operators. group_norm_test.cpp has values by hand and other sizes.
#include "laws/operator_laws.hpp"
#include "operators/norm/lrn_rows.hpp"
#include <catch2/catch.hpp>

TEST_CASE("lrn obeys the laws of all operators") {
  const laws::operator_laws laws;
  rows::lrn(laws);
}
