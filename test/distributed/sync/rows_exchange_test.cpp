// SPDX-License-Identifier: Apache-2.0
// Rows of gradients from several ranks are added up as those of one process with all parts.

#include <cstddef>
#include <cstring>
#include <mutex>
#include <random>
#include <vector>

#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/distributed/sync/rows_exchange.hpp>

namespace {

using rows = lamina::engine::cpu::basic_selected_rows<float>;
constexpr int columns = 5;

/// The rows of one part; some parts have none.
rows part(int number) {
  rows r;
  r.begin(columns);
  std::mt19937 draw(static_cast<unsigned>(number));
  const int count = number == 2 ? 0 : 1 + static_cast<int>(draw() % 4);
  for (int i = 0; i < count; ++i) {
    float values[columns];
    for (float& v : values) v = static_cast<float>(draw() % 1000) / 7.0f;
    r.add(static_cast<int>(draw() % 6), values);
  }
  return r;
}

}  // namespace

TEST_CASE("rows of all ranks are added up in the order of the parts", "[threads]") {
  const std::vector<float> weight{0.3f, 0.0f, 0.2f, 0.1f, 0.7f, 0.6f};
  rows expected = part(0);
  expected.scale(weight[0]);
  for (int p = 1; p < 6; ++p)
    if (weight[static_cast<std::size_t>(p)] != 0)
      expected.add(part(p), weight[static_cast<std::size_t>(p)]);
  std::mutex mutex;
  for (const int ranks : {2, 3, 6})
    test::in_ranks(ranks, [&](test::thread_group& w) {
      const int local = 6 / ranks;
      std::vector<rows> mine;
      for (int t = 0; t < local; ++t) mine.push_back(part(w.rank() * local + t));
      std::vector<rows*> pointers;
      for (rows& r : mine) pointers.push_back(&r);
      lamina::distributed::rows_exchange<float>(w).reduce(pointers, columns, weight);
      const std::lock_guard lock(mutex);
      REQUIRE(mine[0].size() == expected.size());
      for (int i = 0; i < expected.size(); ++i) {
        CHECK(mine[0].number(i) == expected.number(i));
        CHECK(std::memcmp(mine[0].row(i), expected.row(i), columns * sizeof(float)) == 0);
      }
    });
}
