// SPDX-License-Identifier: Apache-2.0
// Costs of pointwise operators and of losses, in parts and of the whole.
#include "laws/parts_law.hpp"
#include "operators/activation/activation_rows.hpp"
#include "operators/elementwise/elementwise_rows.hpp"
#include "operators/loss/in_batch_rows.hpp"
#include "operators/loss/loss_rows.hpp"
#include <catch2/catch.hpp>

TEST_CASE("costs of activations are computed in parts as of the whole, or refused") {
  laws::parts_law law;
  rows::activation(law);
  CHECK(law.allowed >= 50);
  CHECK(law.meeting == std::set<std::string>{"softmax"});
}

TEST_CASE("costs of pointwise operators are computed in parts as of the whole, or refused") {
  laws::parts_law law;
  rows::elementwise(law);
  CHECK(law.allowed >= 50);
  CHECK(law.meeting == std::set<std::string>{"clip_by_norm"});
}

TEST_CASE("costs of losses are computed in parts as of the whole, or refused") {
  laws::parts_law law;
  rows::loss(law);
  rows::in_batch(law);
  CHECK(law.allowed >= 30);
  CHECK(law.meeting == std::set<std::string>{"in_batch_cross_entropy", "softmax"});
}
