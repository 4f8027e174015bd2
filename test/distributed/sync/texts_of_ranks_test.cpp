// SPDX-License-Identifier: Apache-2.0
// Texts of any lengths, also none, reach all processes.
#include <string>
#include <vector>

#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/distributed/sync/texts_of_ranks.hpp>

TEST_CASE("each process has the texts of all", "[threads]") {
  const auto all = test::results_in_ranks(3, [](test::thread_group& w) {
    const std::string mine(static_cast<std::size_t>(5 * (2 - w.rank())), 'a');
    return lamina::distributed::texts_of_ranks(w, w.rank() == 1 ? std::string("x\0y", 3) : mine);
  });
  REQUIRE(all.size() == 3);
  for (const auto& [rank, texts] : all)
    CHECK(texts == std::vector<std::string>{std::string(10, 'a'), std::string("x\0y", 3), ""});
  const auto none = test::results_in_ranks(
      2, [](test::thread_group& w) { return lamina::distributed::texts_of_ranks(w, ""); });
  for (const auto& [rank, texts] : none) CHECK(texts == std::vector<std::string>{"", ""});
}
