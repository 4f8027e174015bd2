// SPDX-License-Identifier: Apache-2.0
// The numbers of Python's random.Random(seed).random().
#include <cstdint>

#include <catch2/catch.hpp>

#include <lamina/dataset/python_random.hpp>

TEST_CASE("random numbers are those of Python") {
  // python3 -c "import random; r = random.Random(0); print([r.random() for _ in range(3)])"
  lamina::dataset::python_random zero(0);
  for (const double expected : {0.8444218515250481, 0.7579544029403025, 0.420571580830845})
    CHECK(zero() == expected);
  for (int i = 3; i < 2000; ++i) (void)zero();
  CHECK(zero() == 0.20861483268890268);
  lamina::dataset::python_random one(1), large(0xFEDCBA9876543210u);
  CHECK(one() == 0.13436424411240122);
  CHECK(large() == 0.28551133247024263);
}
