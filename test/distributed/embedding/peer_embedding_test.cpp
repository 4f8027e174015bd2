// SPDX-License-Identifier: Apache-2.0
// Tables whose rows are divided among ranks: what is sent, and what stays in memory.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "distributed/sharded_embedding.hpp"
#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>
#include <sys/mman.h>

#include <lamina/core/messages/error.hpp>
#include <lamina/distributed/embedding/peer_embedding.hpp>

namespace {

using lamina::dtype;
using lamina::looked_up_ids;
using lamina::distributed::peer_embedding;
using test::fill, test::has_row, test::look_up, test::row_of, test::two_tables;
using purpose = lamina::sharded_embedding::purpose;

/// The bytes of whole pages in memory.
std::size_t resident(const float* at, std::size_t bytes) {
  const std::size_t page = lamina::distributed::row_mapping::page();
  std::vector<unsigned char> in((bytes + page - 1) / page);
  if (::mincore(const_cast<float*>(at), bytes, in.data()) != 0) return 0;
  std::size_t sum = 0;
  for (const unsigned char one : in) sum += (one & 1u) * page;
  return sum;
}

}  // namespace

TEST_CASE("ranks bring the rows that they look up, each once", "[threads]") {
  std::mutex mutex;
  for (const int ranks : {2, 3, 4})
    test::in_ranks(ranks, [&](test::thread_group& w) {
      peer_embedding tables(w, two_tables(), 5);
      fill(tables);
      w.sent = 0;
      // Own rows, rows of others more than once, padding, and ids outside of the table.
      const std::vector<std::int64_t> ids{0, 100, 50, 50, 100, 7, -1, 101, std::int64_t{1} << 40};
      const std::vector<std::int64_t> users{2, 1, 2};
      const looked_up_ids both[] = {look_up(0, ids, 7), look_up(1, users)};
      tables.fetch(both, w.rank() == 1 ? 2 : 1, purpose::training);
      const std::lock_guard lock(mutex);
      for (const int row : {0, 50, 100}) CHECK(has_row(tables, 0, row));
      const bool owns_padding = tables.first(0) <= 7 && 7 < tables.end(0);
      CHECK(has_row(tables, 0, 7) == owns_padding);
      CHECK(has_row(tables, 0, 30) == (tables.first(0) <= 30 && 30 < tables.end(0)));
      if (w.rank() == 1) CHECK(has_row(tables, 1, 2));
    });
}

TEST_CASE("what is sent is the rows that are used, whatever the size of the table", "[threads]") {
  std::vector<std::size_t> sent;
  for (const int rows : {1000, 1000000}) {
    std::mutex mutex;
    std::size_t all = 0;
    test::in_ranks(4, [&](test::thread_group& w) {
      peer_embedding tables(w, {{"t", rows, 16, dtype::float32}}, 0);
      w.sent = 0;
      // 10 distinct rows of the next rank, each three times.
      std::vector<std::int64_t> ids;
      for (int k = 0; k < 30; ++k)
        ids.push_back(std::int64_t{rows} * ((w.rank() + 1) % 4) / 4 + k % 10);
      const looked_up_ids of = look_up(0, ids);
      tables.fetch(&of, 1, purpose::training);
      lamina::engine::cpu::selected_rows gradient;
      gradient.begin(16);
      const float ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
      for (const std::int64_t id : ids) gradient.add(static_cast<int>(id), ones);
      lamina::engine::cpu::selected_rows* const mine[] = {&gradient};
      const float weights[] = {0.25f, 0.25f, 0.25f, 0.25f};
      tables.reduce_rows(0, mine, {weights, sizeof(float), 4, 1});
      const std::lock_guard lock(mutex);
      CHECK(gradient.size() == 10);
      CHECK(gradient.number(0) == tables.first(0));
      CHECK(gradient.row(3)[5] == 0.75f);
      all += w.sent;
    });
    sent.push_back(all);
  }
  // By rank: 10 numbers, 10 rows, and 10 gradients with their numbers.
  CHECK(sent[0] == 4u * 10u * (4u + 64u + 4u + 64u));
  CHECK(sent[1] == sent[0]);
}

TEST_CASE("a rank has its shard of a table in memory, and few rows of others", "[threads]") {
  std::mutex mutex;
  constexpr std::size_t bytes = std::size_t{1000000} * 16 * sizeof(float);
  for (const int ranks : {2, 4})
    test::in_ranks(ranks, [&](test::thread_group& w) {
      peer_embedding tables(w, {{"t", 1000000, 16, dtype::float32}}, 0);
      const std::vector<float> row(16, 1.0f);
      for (int r = tables.first(0); r < tables.end(0); ++r) tables.import_rows(0, r, 1, row.data());
      const float initial[] = {0.0f, 0.5f};
      const auto states = tables.make_states(2, initial);
      std::mt19937 draw(static_cast<unsigned>(w.rank()));
      for (int step = 0; step < 40; ++step) {
        std::vector<std::int64_t> ids;
        for (int k = 0; k < 64; ++k) ids.push_back(static_cast<std::int64_t>(draw() % 1000000));
        const looked_up_ids of = look_up(0, ids);
        tables.fetch(&of, 1, purpose::training);
        for (const std::int64_t id : ids)
          if (row_of(tables, 0, static_cast<int>(id)) != row) FAIL("a row is missing");
      }
      const std::size_t shard = bytes / static_cast<std::size_t>(ranks);
      const std::size_t most = shard + shard / 50 + (std::size_t{3} << 19);
      const std::lock_guard lock(mutex);
      CHECK(resident(tables.memory(0), bytes) >= shard);
      CHECK(resident(tables.memory(0), bytes) <= most);
      CHECK(resident(states->at(0, 0), bytes) == 0);
      CHECK(resident(states->at(0, 1), bytes) >= shard);
      CHECK(resident(states->at(0, 1), bytes) <= most);
      CHECK(states->at(0, 1)[static_cast<std::size_t>(tables.first(0)) * 16] == 0.5f);
    });
}

TEST_CASE("numbers are added up over the ranks", "[threads]") {
  std::mutex mutex;
  test::in_ranks(3, [&](test::thread_group& w) {
    peer_embedding tables(w, two_tables(), 0);
    const double sum = tables.all_reduce_sum(0, 0.5 * w.rank());
    const std::lock_guard lock(mutex);
    CHECK(sum == 1.5);
  });
}

TEST_CASE("ranks that differ are told so", "[threads]") {
  std::mutex mutex;
  std::vector<std::string> found;
  test::in_ranks(2, [&](test::thread_group& w) {
    const auto note = [&](auto&& f) {
      try {
        f();
      } catch (const lamina::error& e) {
        const std::lock_guard lock(mutex);
        found.emplace_back(e.what());
      }
    };
    note([&] { peer_embedding(w, two_tables(), static_cast<std::uint64_t>(w.rank())); });
    note([&] { peer_embedding(w, {{"t", 10 + w.rank(), 4, dtype::float32}}, 0); });
    peer_embedding tables(w, two_tables(), 0);
    note(
        [&] { tables.fetch(nullptr, 0, w.rank() == 0 ? purpose::training : purpose::evaluation); });
  });
  REQUIRE(found.size() == 6);
  int seeds = 0, shapes = 0, purposes = 0;
  for (const std::string& f : found) {
    seeds +=
        f.find("the same seed of the model in each process, found 0 in rank 0 and 1 in rank 1") !=
        f.npos;
    shapes += f.find("the same tables in each process") != f.npos;
    purposes += f.find("found a step of training in rank 0 and an evaluation in rank 1") != f.npos;
  }
  CHECK(seeds == 2);
  CHECK(shapes == 2);
  CHECK(purposes == 2);
}
