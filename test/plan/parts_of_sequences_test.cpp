// SPDX-License-Identifier: Apache-2.0
// Costs of sequences, loops and branches, in parts and of the whole.
#include "laws/parts_law.hpp"
#include "operators/control/control_rows.hpp"
#include "operators/decode/decode_rows.hpp"
#include "operators/recurrent/recurrent_rows.hpp"
#include "operators/sequence/sequence_rows.hpp"
#include <catch2/catch.hpp>

TEST_CASE("costs of sequences are computed in parts as of the whole, or refused") {
  laws::parts_law law;
  rows::sequence(law);
  rows::recurrent(law);
  CHECK(law.allowed >= 60);
  CHECK(law.meeting == std::set<std::string>{"lod_reset"});
}

TEST_CASE("costs of loops and branches are computed in parts as of the whole, or refused") {
  laws::parts_law law;
  rows::control(law);
  rows::nested_control(law);
  rows::decode(law);
  CHECK(law.allowed >= 20);
  CHECK(law.meeting == std::set<std::string>{"elementwise_mul", "select_input"});
}
