// SPDX-License-Identifier: Apache-2.0
// Each float of each gradient has one owner, and every rank owns as much of each bucket.

#include <cstddef>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/distributed/sync/bucket_memory.hpp>

namespace {

using lamina::gradient_times;
using lamina::distributed::gradient_shards;
using sizes = std::vector<std::size_t>;

void check_owners(int ranks, const sizes& floats, const std::vector<gradient_times>& times,
                  std::size_t bytes, bool whole) {
  CAPTURE(ranks, bytes, whole);
  const gradient_shards shards(ranks, floats, times.empty() ? nullptr : times.data(), bytes, whole);
  std::vector<std::vector<int>> owners(floats.size());
  for (std::size_t i = 0; i < floats.size(); ++i) owners[i].assign(floats[i], 0);
  int before = -1;
  for (const auto& b : shards.buckets()) {
    CHECK(b.times.complete >= before);
    before = b.times.complete;
    std::size_t most = 0, least = b.floats, at = 0;
    REQUIRE(b.of_rank.size() == static_cast<std::size_t>(ranks));
    for (const auto& s : b.of_rank) {
      CHECK(s.at == at);
      at += s.floats;
      std::size_t n = 0;
      for (const auto& r : s.ranges) {
        n += r.size();
        CHECK(r.first % lamina::alignment_floats == 0);
        for (std::size_t k = r.first; k < r.end; ++k)
          ++owners[static_cast<std::size_t>(r.array)][k];
        if (!times.empty()) {
          CHECK(times[static_cast<std::size_t>(r.array)].complete <= b.times.complete);
          CHECK(times[static_cast<std::size_t>(r.array)].last_read <= b.times.last_read);
        }
        if (whole) CHECK(r.size() == floats[static_cast<std::size_t>(r.array)]);
      }
      CHECK(n == s.floats);
      most = s.floats > most ? s.floats : most;
      least = s.floats < least ? s.floats : least;
    }
    CHECK(at == b.floats);
    if (!whole) CHECK(most - least <= lamina::alignment_floats);
  }
  for (const auto& of : owners)
    for (const int count : of) REQUIRE(count == 1);
}

}  // namespace

TEST_CASE("each float has one owner, and ranks share each bucket") {
  for (const int ranks : {1, 2, 3, 5})
    for (const bool whole : {false, true})
      for (const std::size_t bytes : sizes{0, 64, 1024, 1048576}) {
        check_owners(ranks, {64, 16, 0, 160, 16}, {}, bytes, whole);
        check_owners(ranks, {64, 16, 0, 160, 16}, {{5, 6}, {4, 4}, {-1, 9}, {2, 8}, {2, 1}}, bytes,
                     whole);
        check_owners(ranks, {16}, {{0, 0}}, bytes, whole);
        check_owners(ranks, {1600, 16, 16}, {{3, 3}, {3, 3}, {1, 7}}, bytes, whole);
        check_owners(ranks, {}, {}, bytes, whole);
      }
}

TEST_CASE("without times or with buckets of 0 bytes all gradients are one bucket") {
  const std::vector<gradient_times> times{{5, 6}, {1, 2}};
  CHECK(gradient_shards(2, {64, 640}, nullptr, 64, false).buckets().size() == 1);
  const gradient_shards one(2, {64, 640}, times.data(), 0, false);
  REQUIRE(one.buckets().size() == 1);
  CHECK(one.buckets()[0].times.complete == 5);
  CHECK(one.buckets()[0].times.last_read == 6);
}

TEST_CASE("whole arrays go to the rank that has least") {
  const gradient_shards shards(2, {160, 16, 16, 16}, nullptr, 0, true);
  const auto& of = shards.buckets()[0].of_rank;
  CHECK(of[0].floats == 160);
  CHECK(of[1].floats == 48);
}
