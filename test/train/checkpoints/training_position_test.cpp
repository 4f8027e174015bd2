// SPDX-License-Identifier: Apache-2.0
// A position compares what each process has read of its shard, and says whose shard another is.
#include <cstddef>
#include <string>

#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/files/checksum.hpp>
#include <lamina/train/checkpoints/training_position.hpp>

namespace {

lamina::samples_of_pass read_of(int share, int rows) {
  lamina::samples_of_pass seen;
  lamina::checksum sum;
  sum.add(&share, sizeof share);
  seen.add(rows, sum);
  return seen;
}
/// The error with which ranks that have read shards `now` go on from one where rank r read r.
std::string error_of(int ranks_then, const std::string& now, bool old_file = false) {
  lamina::training_position at;
  test::in_ranks(ranks_then, [&](test::thread_group& w) {
    const auto seen = read_of(w.rank(), 4);
    auto mine = seen.position(3);
    seen.add_shards(mine, &w);
    if (w.rank() == 0) at = mine;
  });
  if (old_file) at.shards.clear(), at.readers = -1;
  const auto found = test::errors_of(static_cast<int>(now.size()), [&](test::thread_group& w) {
    const int share = now[static_cast<std::size_t>(w.rank())] - '0';
    read_of(share, share == 9 ? 5 : 4).require(at, "run", &w);
  });
  CHECK((found.empty() || found.size() == now.size()));
  for (const auto& [rank, why] : found) CHECK(why == found.at(0));
  return found.empty() ? "" : found.at(0);
}

}  // namespace

TEST_CASE("shards of a pass are compared rank by rank", "[threads]") {
  using Catch::Contains;
  CHECK(error_of(3, "012").empty());
  CHECK_THAT(error_of(3, "021"), Contains("expected that rank 1 reads the same 4 samples") &&
                                     Contains("found those of rank 2"));
  CHECK_THAT(error_of(3, "210"), Contains("rank 0 reads") && Contains("found those of rank 2"));
  CHECK_THAT(error_of(3, "017"), Contains("rank 2 reads") && Contains("found others"));
  CHECK_THAT(error_of(3, "019"), Contains("rank 2 reads") && Contains("found 5"));
  CHECK_THAT(error_of(3, "01"), Contains("expected 3 processes that read their shards"));
  CHECK_THAT(error_of(1, "01"), Contains("expected 1 process that reads its shard"));
  // A file of an earlier version has the shard of rank 0.
  CHECK(error_of(3, "021", true).empty());
  CHECK_THAT(error_of(3, "102", true), Contains("rank 0 reads"));
}
