// SPDX-License-Identifier: Apache-2.0
// Convolutions with filters of 1 by 1, and the parts of images that convolutions call finished.
#include <cmath>
#include <limits>

#include <catch2/catch.hpp>
#include <engine/cpu/conv/plain_conv.hpp>

using plain_conv::check;
using plain_conv::check_batches;
using plain_conv::shape;

TEST_CASE("pointwise_conv: images of few elements") {
  for (const int height : {1, 2, 7, 14, 16})
    for (const int filters : {16, 31, 48, 70}) check(shape(1, 40, filters, height, height, 1), 2);
  check_batches(shape(1, 33, 50, 7, 7, 1));
  check_batches(shape(1, 64, 100, 5, 3, 1), true);
  check_batches(shape(1, 160, 200, 14, 14, 1), true);
}

TEST_CASE("pointwise_conv: every number of elements that a vector may leave") {
  for (int width = 1; width <= 17; ++width)
    for (const int height : {1, 3, 17})
      if (width * height <= 256) {
        check(shape(1, 16 + width, 19, height, width, 1), 1 + width % 3, true);
        check(shape(1, 40, 33 - width, height, width, 1), 1);
      }
}

TEST_CASE("pointwise_conv: filters that a cache maps to the same lines") {
  using lamina::engine::cpu::correlation;
  constexpr int channels = static_cast<int>(correlation::floats_of_way) - 3;  // + 3 between filters
  for (const int height : {1, 2, 7}) check_batches(shape(1, channels, 37, height, height, 1), true);
}

TEST_CASE("pointwise_conv: images of one element") {
  for (const int channels : {16, 17, 47, 96})
    for (const int filters : {16, 19, 64}) check(shape(1, channels, filters, 1, 1, 1), 2, true);
  check_batches(shape(1, 47, 35, 1, 1, 1));
}

TEST_CASE("pointwise_conv: infinity and NaN reach the results of their window only") {
  for (const float edge : {-std::numeric_limits<float>::infinity(), std::nanf("")})
    for (const int size : {1, 6}) check(shape(1, 24, 40, size, size, 1), 2, false, edge);
}

TEST_CASE("convolutions finish each element once, in tiles, channels or at the end") {
  check_batches(shape(1, 3, 30, 32, 32, 3, 2, 1));   // tiles of rows of 16 windows
  check_batches(shape(1, 16, 96, 32, 32, 1), true);  // tiles, few filters
  check_batches(shape(1, 64, 96, 40, 40, 1));        // tiles, many filters in several rounds
  check_batches(shape(1, 5, 1, 32, 48, 3, 1, 1));    // tiles of a lone filter
  check_batches(shape(1, 7, 9, 16, 24, 3, 1, 1));    // tiles of copied windows
  check_batches(shape(1, 40, 130, 18, 18, 1));       // channels that are not whole vectors
  check_batches(shape(1, 70, 90, 35, 35, 1));        // several rounds without tiles
  check_batches(shape(4, 32, 64, 20, 20, 1), true);  // groups
  check_batches(shape(2, 6, 10, 13, 9, 2, 1, 1));    // groups of channels of any size
}
