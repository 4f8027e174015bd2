// SPDX-License-Identifier: Apache-2.0
// constexpr_vector grows, keeps its elements and returns their indices.
#include <catch2/catch.hpp>

#include <lamina/core/compile_time/constexpr_vector.hpp>

namespace {

constexpr int sum_of_pushed(int count) {
  lamina::constexpr_vector<int> v;
  int sum = 0;
  for (int i = 0; i < count; ++i)
    if (v.push(3 * i) != i) return -1;
  for (int i = 0; i < v.count; ++i) sum += v[i];
  return sum;
}
static_assert(sum_of_pushed(0) == 0);
static_assert(sum_of_pushed(300) == 3 * 299 * 150, "also in constant evaluation");

}  // namespace

TEST_CASE("a constexpr_vector keeps its elements while it grows") {
  CHECK(sum_of_pushed(64) == 3 * 63 * 32);
  CHECK(sum_of_pushed(65) == 3 * 64 * 65 / 2);
  lamina::constexpr_vector<int> v;
  v.push(7);
  v.reserve(1000);
  CHECK(v.capacity == 1000);
  CHECK(v[0] == 7);
  v.reserve(10);  // never shrinks
  CHECK(v.capacity == 1000);
  int copied[2] = {};
  const int from[] = {4, 5};
  lamina::copy_items(copied, from, 2);
  CHECK((copied[0] == 4 && copied[1] == 5));
}
