// SPDX-License-Identifier: Apache-2.0
// Windows along an image: their number for each stride, padding and dilation.
#include <catch2/catch.hpp>

#include <lamina/layers/window.hpp>

namespace {

/// The windows that fit, counted one by one.
int counted(int image, int size, int stride, int padding, int dilation) {
  const int reach = dilation * (size - 1) + 1;
  int n = 0;
  for (int at = -padding; at + reach <= image + padding; at += stride) ++n;
  return n;
}

}  // namespace

TEST_CASE("as many windows as fit along a side, counted one by one") {
  using lamina::layer::detail::windows_along;
  for (int image = 1; image < 9; ++image)
    for (int size = 1; size < 5; ++size)
      for (int stride = 1; stride < 4; ++stride)
        for (int padding = 0; padding < 3; ++padding)
          for (int dilation = 1; dilation < 3; ++dilation)
            REQUIRE(windows_along(image, size, stride, padding, dilation, false) ==
                    counted(image, size, stride, padding, dilation));
  CHECK(windows_along(5, 2, 2, 0, 1, false) == 2);
  CHECK(windows_along(5, 2, 2, 0, 1, true) == 3);  // the last one reaches beyond
  CHECK(windows_along(5, 2, 0, 0, 1, false) == 0);
}

TEST_CASE("one number is both sides of an extent") {
  STATIC_REQUIRE(lamina::extent2(5) == lamina::extent2(5, 5));
  STATIC_REQUIRE(!(lamina::extent2(5, 4) == lamina::extent2(4, 5)));
  STATIC_REQUIRE(lamina::extent2(5, 4).least(4));
  STATIC_REQUIRE(!lamina::extent2(5, 4).least(5));
  STATIC_REQUIRE(lamina::layer::detail::windows_in<8, 6>({3, 2}, {.stride = {1, 2}}) ==
                 lamina::extent2(6, 3));
}
