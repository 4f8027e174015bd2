// SPDX-License-Identifier: Apache-2.0
// sort_stably keeps the order of equal elements.
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/arrays/sort_stably.hpp>

TEST_CASE("positions are sorted, and of equal ones the first stays first") {
  const int key[] = {3, 1, 3, 2, 1, 1, 3, 2};
  std::vector<int> positions = {0, 1, 2, 3, 4, 5, 6, 7};
  lamina::sort_stably(positions, [&](int a, int b) { return key[a] < key[b]; });
  CHECK(positions == std::vector<int>{1, 4, 5, 3, 7, 0, 2, 6});
  lamina::sort_stably(positions, [&](int a, int b) { return key[a] > key[b]; });
  CHECK(positions == std::vector<int>{0, 2, 6, 3, 7, 1, 4, 5});
}
