// SPDX-License-Identifier: Apache-2.0
// Sizes in floats of arrays of floats and of doubles.
#include <catch2/catch.hpp>

#include <lamina/engine/common/real_numbers.hpp>

TEST_CASE("an array of doubles takes twice the floats") {
  using namespace lamina::engine;
  STATIC_REQUIRE(in_floats<float>(7) == 7);
  STATIC_REQUIRE(in_floats<double>(7) == 14);
  alignas(8) float memory[4] = {};
  numbers_at<double>(memory)[1] = 0.1;
  const float* const same = memory;
  CHECK(numbers_at<double>(same)[1] == 0.1);
  CHECK(numbers_at<float>(same)[0] == 0);
}
