// SPDX-License-Identifier: Apache-2.0
// The pointers of a trainer are kept, and its tables are listed.

#include <cstddef>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/distributed/servers/array_list.hpp>

TEST_CASE("pointers outlive the arrays that held them") {
  float number = 0;
  std::vector<int> rows, with_rows;
  std::size_t count = 0;
  {
    float* gradients[] = {&number, nullptr, nullptr, nullptr};
    float* values[] = {&number, &number, &number, &number};
    const std::size_t floats[] = {16, 32, 48, 16};
    const bool has_rows[] = {false, true, false, false};
    const int wide[] = {0, 16, -1, 0};
    const lamina::distributed::array_list kept(
        {gradients, values, floats, has_rows, 4, true, false, nullptr, 1, wide});
    values[3] = nullptr;
    CHECK(kept.values[3] == &number);
    CHECK(kept.gradients[0] == &number);
    CHECK(kept.whole);
    rows = kept.rows, with_rows = kept.with_rows, count = kept.count();
  }
  CHECK(rows == std::vector<int>{1});
  CHECK(with_rows == std::vector<int>{1, 2});
  CHECK(count == 4);
}
