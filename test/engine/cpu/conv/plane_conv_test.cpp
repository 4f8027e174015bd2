// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions: all widths of rows, few rows, strides, dilations, edge values.
#include <cmath>
#include <limits>

#include <catch2/catch.hpp>
#include <engine/cpu/conv/plain_conv.hpp>

using plain_conv::check;
using plain_conv::check_batches;
using plain_conv::shape;

TEST_CASE("plane_conv: rows of any width, few and many rows") {
  for (const int width : {1, 3, 7, 14, 16, 17, 31, 33, 48})
    for (const int height : {1, 2, 4, 5, 9})
      for (const int filter : {3, 5})
        check(shape(19, 19, 19, height, width, filter, 1, filter / 2), 2, true);
  check_batches(shape(35, 35, 35, 7, 7, 3, 1, 1));
  check_batches(shape(32, 32, 32, 20, 20, 5, 1, 2), true);
}

TEST_CASE("plane_conv: without padding, with wide padding, several filters per channel") {
  check_batches(shape(16, 16, 16, 9, 21, 3));
  check_batches(shape(18, 18, 18, 4, 6, 3, 1, 3), true);
  check_batches(shape(17, 17, 51, 6, 8, 3, 1, 1), true);
}

TEST_CASE("plane_conv: strides, dilations and other filters") {
  for (const int size : {6, 7, 15, 32, 33})
    for (const int padding : {0, 1, 2}) check(shape(17, 17, 17, size, size, 3, 2, padding), 2);
  check_batches(shape(16, 16, 16, 14, 14, 5, 2, 2), true);
  check_batches(shape(20, 20, 20, 13, 17, 3, 3, 1));
  check_batches(shape(16, 16, 16, 12, 12, 3, 1, 2, 2), true);
  check_batches(shape(16, 16, 16, 10, 11, 2, 1, 1));
  check_batches(shape(16, 16, 32, 10, 11, 1, 2, 0));
}

TEST_CASE("plane_conv: infinity and NaN spread to the windows that read them only") {
  for (const float edge : {std::numeric_limits<float>::infinity(), std::nanf("")})
    for (const int width : {7, 20}) {
      check(shape(16, 16, 16, 6, width, 3, 1, 1), 1, false, edge);
      check(shape(16, 16, 16, 6, width, 3, 2, 1), 1, false, edge);
    }
}
