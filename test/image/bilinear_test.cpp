// SPDX-License-Identifier: Apache-2.0
// Values between pixels.
#include <array>
#include <limits>

#include <catch2/catch.hpp>

#include <lamina/image/bilinear.hpp>

using lamina::image::bilinear;

namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();
constexpr float no_number = std::numeric_limits<float>::quiet_NaN();
constexpr std::array<float, 6> plane{1, 2,  4,  //
                                     8, 16, 32};

float at(float y, float x, float outside = 0) {
  return bilinear(plane.data(), 2, 3, y, x, outside);
}

}  // namespace

TEST_CASE("a value between pixels is the mean weighted by distance") {
  CHECK(at(0, 0) == 1);
  CHECK(at(1, 2) == 32);
  CHECK(at(0, 0.5f) == 1.5f);
  CHECK(at(0.25f, 0) == Approx(0.75 * 1 + 0.25 * 8));
  CHECK(at(0.5f, 1.5f) == Approx((2 + 4 + 16 + 32) / 4.0));
}

TEST_CASE("pixels outside of a plane have the given value") {
  CHECK(at(-0.5f, 0, 9) == Approx((9 + 1) / 2.0));
  CHECK(at(1.5f, 2.5f, 8) == Approx((32 + 8 + 8 + 8) / 4.0));
  for (const float far : {-1.f, 3.f, -1e30f, 1e30f, infinite, -infinite, no_number}) {
    INFO(far);
    CHECK(at(0, far, 7) == 7);
    CHECK(at(far, 0, 7) == 7);
  }
}

TEST_CASE("a pixel of weight 0 is not read") {
  const std::array<float, 4> edge{1, infinite, no_number, 3};
  CHECK(bilinear(edge.data(), 2, 2, 0, 0, 0) == 1);
  CHECK(bilinear(edge.data(), 2, 2, 1, 1, 0) == 3);
}
