// SPDX-License-Identifier: Apache-2.0
// Tables whose rows are divided among ranks: who owns what, what is sent, what stays in memory, and
// files.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>
#include <sys/mman.h>

#include <lamina/core/error.hpp>
#include <lamina/distributed/rows_exchange.hpp>
#include <lamina/distributed/sharded_tables.hpp>

namespace {

using lamina::divided_table;
using lamina::dtype;
using lamina::looked_up_ids;
using lamina::distributed::sharded_table;
using lamina::distributed::sharded_tables;
using purpose = lamina::divided_tables::purpose;

/// The value of an element, by its table, row and column.
float value(int table, int row, int column) {
  return static_cast<float>(1000 * row + 10 * column + table);
}
std::vector<float> row_of(const sharded_tables& tables, int t, int row) {
  const divided_table& of = tables.tables()[static_cast<std::size_t>(t)];
  std::vector<float> found(static_cast<std::size_t>(of.columns));
  sharded_table(of, tables.ranks())
      .copy_out(reinterpret_cast<const std::byte*>(tables.memory(t)), row,
                reinterpret_cast<std::byte*>(found.data()));
  return found;
}
bool has_row(const sharded_tables& tables, int t, int row) {
  const std::vector<float> found = row_of(tables, t, row);
  for (std::size_t c = 0; c < found.size(); ++c)
    if (found[c] != value(t, row, static_cast<int>(c))) return false;
  return true;
}
void fill(sharded_tables& tables) {
  for (int t = 0; t < static_cast<int>(tables.tables().size()); ++t)
    for (int r = tables.first(t); r < tables.end(t); ++r) {
      std::vector<float> row;
      for (int c = 0; c < tables.tables()[static_cast<std::size_t>(t)].columns; ++c)
        row.push_back(value(t, r, c));
      tables.import_rows(t, r, 1, row.data());
    }
}
std::vector<divided_table> two_tables() {
  return {{"words", 101, 70, dtype::float32}, {"users", 3, 1, dtype::float32}};
}
looked_up_ids look_up(int table, const std::vector<std::int64_t>& ids, std::int64_t padding = -1) {
  return {table, ids.data(), ids.size(), padding};
}
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

TEST_CASE("each row has one owner, and no owner has more than its share") {
  for (const int rows : {1, 2, 7, 64, 1000003})
    for (const int ranks : {1, 2, 3, 5, 8}) {
      const sharded_table table({"t", rows, 4, dtype::float32}, ranks);
      CHECK(table.first(0) == 0);
      CHECK(table.end(ranks - 1) == rows);
      bool owned = true, fair = true;
      for (int r = 0; r < ranks; ++r) {
        fair = fair && table.end(r) - table.first(r) <= rows / ranks + 1;
        for (int row = table.first(r); row < table.end(r); row += rows / 50 + 1)
          owned = owned && table.owner(row) == r;
        if (table.first(r) < table.end(r)) owned = owned && table.owner(table.end(r) - 1) == r;
      }
      CHECK(owned);
      CHECK(fair);
    }
}

TEST_CASE("ranks bring the rows that they look up, each once", "[threads]") {
  std::mutex mutex;
  for (const int ranks : {2, 3, 4})
    test::in_ranks(ranks, [&](test::thread_group& w) {
      sharded_tables tables(w, two_tables(), 5);
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
      sharded_tables tables(w, {{"t", rows, 16, dtype::float32}}, 0);
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
      tables.join(0, mine, {weights, sizeof(float), 4, 1});
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

TEST_CASE("gradients are added up in their owner as in one process", "[threads]") {
  constexpr int columns = 5, table_rows = 9;
  const auto part = [](int number) {
    lamina::engine::cpu::selected_rows r;
    r.begin(columns);
    std::mt19937 draw(static_cast<unsigned>(number));
    const int count = number == 2 ? 0 : 1 + static_cast<int>(draw() % 8);
    for (int i = 0; i < count; ++i) {
      float values[columns];
      for (float& v : values) v = static_cast<float>(draw() % 1000) / 7.0f;
      // Rank 3 of 6 parts has only rows of the first owner.
      r.add(static_cast<int>(draw() % (number == 3 ? 1 : table_rows)), values);
    }
    return r;
  };
  const std::vector<float> weight{0.3f, 0.0f, 0.2f, 0.1f, 0.7f, 0.6f};
  std::mutex mutex;
  for (const int ranks : {2, 3, 6})
    test::in_ranks(ranks, [&](test::thread_group& w) {
      const int local = 6 / ranks;
      std::vector<lamina::engine::cpu::selected_rows> owned, whole;
      std::vector<lamina::engine::cpu::selected_rows*> of_owned, of_whole;
      for (int t = 0; t < local; ++t) {
        owned.push_back(part(w.rank() * local + t));
        whole.push_back(part(w.rank() * local + t));
      }
      for (auto& r : owned) of_owned.push_back(&r);
      for (auto& r : whole) of_whole.push_back(&r);
      lamina::distributed::rows_exchange<float>(w).join(of_whole, columns, weight);
      sharded_tables tables(w, {{"t", table_rows, columns, dtype::float32}}, 0);
      tables.join(0, of_owned.data(), {weight.data(), sizeof(float), 6, local});
      const double sum = tables.add_up(0.5 * w.rank());
      const std::lock_guard lock(mutex);
      int next = 0;
      for (int i = 0; i < whole[0].size(); ++i) {
        const int number = whole[0].number(i);
        if (number < tables.first(0) || number >= tables.end(0)) continue;
        REQUIRE(next < owned[0].size());
        CHECK(owned[0].number(next) == number);
        CHECK(std::memcmp(owned[0].row(next++), whole[0].row(i), columns * sizeof(float)) == 0);
      }
      CHECK(next == owned[0].size());
      CHECK(sum == 0.25 * ranks * (ranks - 1));
    });
}

TEST_CASE("a rank has its share of a table in memory, and few rows of others", "[threads]") {
  std::mutex mutex;
  constexpr std::size_t bytes = std::size_t{1000000} * 16 * sizeof(float);
  for (const int ranks : {2, 4})
    test::in_ranks(ranks, [&](test::thread_group& w) {
      sharded_tables tables(w, {{"t", 1000000, 16, dtype::float32}}, 0);
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
      const std::size_t share = bytes / static_cast<std::size_t>(ranks);
      const std::size_t most = share + share / 50 + (std::size_t{3} << 19);
      const std::lock_guard lock(mutex);
      CHECK(resident(tables.memory(0), bytes) >= share);
      CHECK(resident(tables.memory(0), bytes) <= most);
      CHECK(resident(states->at(0, 0), bytes) == 0);
      CHECK(resident(states->at(0, 1), bytes) >= share);
      CHECK(resident(states->at(0, 1), bytes) <= most);
      CHECK(states->at(0, 1)[static_cast<std::size_t>(tables.first(0)) * 16] == 0.5f);
    });
}

TEST_CASE("a file of divided tables is that of whole ones, for any number of ranks", "[threads]") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "lamina_sharded_tables_test";
  std::filesystem::create_directories(folder);
  const std::string path = folder / "tables";
  const auto entries = [] {
    std::vector<lamina::tensor_entry> all;
    all.push_back({"words", dtype::float32, {101, 70}, {}});
    all.push_back(lamina::tensor_entry::letters("between", "text"));
    all.push_back({"users", dtype::float32, {3, 1}, {}});
    return all;
  };
  const auto arrays = [](const sharded_tables& tables) {
    return std::vector<lamina::divided_array>{{0, "words", tables.memory(0)},
                                              {1, "users", tables.memory(1)}};
  };
  std::vector<lamina::tensor_entry> whole = entries();
  for (const int t : {0, 1}) {
    auto& e = whole[t == 0 ? 0 : 2];
    e.bytes = lamina::raw_bytes(e.dims[0] * e.dims[1] * sizeof(float));
    for (std::size_t r = 0; r < e.dims[0]; ++r)
      for (std::size_t c = 0; c < e.dims[1]; ++c)
        reinterpret_cast<float*>(e.bytes.data())[r * e.dims[1] + c] =
            value(t, static_cast<int>(r), static_cast<int>(c));
  }
  lamina::write_tensor_file(path + "_whole", whole);
  const auto bytes_of = [](const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  std::mutex mutex;
  for (const int ranks : {2, 3, 5}) {
    test::in_ranks(ranks, [&](test::thread_group& w) {
      sharded_tables tables(w, two_tables(), 0);
      fill(tables);
      tables.write(path, entries(), arrays(tables));
    });
    CHECK(bytes_of(path) == bytes_of(path + "_whole"));
    test::in_ranks(ranks == 5 ? 2 : ranks + 1, [&](test::thread_group& w) {
      sharded_tables tables(w, two_tables(), 0);
      const auto found = tables.read(path, arrays(tables));
      tables.read_rows(path, arrays(tables));
      const std::lock_guard lock(mutex);
      CHECK(found[1].bytes.view() == "text");
      CHECK(found[0].bytes.size() == 0);
      for (const int t : {0, 1})
        for (int r = tables.first(t); r < tables.end(t); ++r) CHECK(has_row(tables, t, r));
    });
  }
  // A byte of a table is another one: all ranks notice, and a file that cannot be written is an
  // error in all ranks.
  std::string damaged = bytes_of(path);
  damaged[damaged.size() / 2] ^= 1;
  std::ofstream(path, std::ios::binary) << damaged;
  int refused = 0;
  test::in_ranks(3, [&](test::thread_group& w) {
    sharded_tables tables(w, two_tables(), 0);
    try {
      (void)tables.read(path, arrays(tables));
    } catch (const lamina::format_error&) {
      const std::lock_guard lock(mutex);
      ++refused;
    }
    try {
      tables.write((folder / "none" / "tables").string(), entries(), arrays(tables));
    } catch (const lamina::error& e) {
      const std::lock_guard lock(mutex);
      ++refused;
      CHECK(std::string(e.what()).find("none/tables") != std::string::npos);
    }
  });
  CHECK(refused == 6);
  std::filesystem::remove_all(folder);
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
    note([&] { sharded_tables(w, two_tables(), static_cast<std::uint64_t>(w.rank())); });
    note([&] { sharded_tables(w, {{"t", 10 + w.rank(), 4, dtype::float32}}, 0); });
    sharded_tables tables(w, two_tables(), 0);
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
