// SPDX-License-Identifier: Apache-2.0
// Tables that parameter servers own: rows by packets, sums of gradients, and what is refused.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "distributed/sharded_embedding.hpp"
#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/distributed/servers/ps_embedding.hpp>
#include <lamina/distributed/sync/rows_exchange.hpp>

namespace {

using lamina::distributed::packet;
using lamina::distributed::packet_kind;
using lamina::distributed::ps_embedding;
using lamina::engine::cpu::selected_rows;
using purpose = lamina::sharded_embedding::purpose;
using test::has_row, test::look_up, test::two_tables;

/// Tables in the time of a training, without accumulators.
void open(ps_embedding& tables) {
  std::vector<ps_embedding::trained_table> all;
  for (int t = 0; t < 2; ++t) all.push_back({t, true, {tables.memory(t)}});
  tables.open(all);
}
/// Answers `count` packets.
void answer(test::thread_group& w, ps_embedding& tables, int count) {
  packet got;
  for (; count > 0; --count) {
    const int from = w.receive(got, {}, 1);
    REQUIRE(lamina::distributed::head_of(got).kind == packet_kind::rows);
    tables.answer_rows(from, got);
  }
}
/// The rows of a part of a mini-batch.
selected_rows part_of(int number, int table) {
  selected_rows rows;
  rows.begin(two_tables()[static_cast<std::size_t>(table)].columns);
  std::mt19937 draw(static_cast<unsigned>(2 * number + table));
  std::vector<float> values(static_cast<std::size_t>(rows.columns()));
  const int all = two_tables()[static_cast<std::size_t>(table)].rows;
  for (int i = number == 1 ? 0 : 5; i > 0; --i) {
    for (float& v : values) v = static_cast<float>(draw() % 1000) / 7.0f;
    rows.add(static_cast<int>(draw() % static_cast<unsigned>(all)), values.data());
  }
  return rows;
}
/// What an update gets, by table.
struct updated_rows {
  std::vector<selected_rows> of = std::vector<selected_rows>(2);
  static bool note(void* self, int parameter, int first, int end, void* rows) {
    if (first != 0 || end != -1) throw lamina::error("expected the whole table");
    static_cast<updated_rows*>(self)->of[static_cast<std::size_t>(parameter)].add(
        *static_cast<selected_rows*>(rows));
    return true;
  }
};

}  // namespace

TEST_CASE("servers own the rows, and trainers ask for those that they read", "[threads]") {
  // The table "users" has three rows: with four servers, one has none.
  for (const int servers : {1, 2, 4}) {
    std::mutex mutex;
    test::in_ranks(2 + servers,
                   [&](test::thread_group& w) {
                     ps_embedding tables(w, two_tables(), 5);
                     if (!w.is_parameter_server()) {
                       const std::lock_guard lock(mutex);
                       CHECK(tables.first(0) == tables.end(0));
                       CHECK(tables.first(1) == tables.end(1));
                     }
                     test::fill(tables);
                     // All processes together: also a server reads rows of others.
                     const std::vector<std::int64_t> words{100, 3, 3, 57, 100}, users{2, 0};
                     lamina::looked_up_ids both[] = {look_up(0, words), look_up(1, users)};
                     tables.fetch(both, w.rank() == 1 ? 0 : 2, purpose::evaluation);
                     {
                       const std::lock_guard lock(mutex);
                       for (const int row : {3, 57, 100})
                         CHECK(has_row(tables, 0, row) == (w.rank() != 1));
                     }
                     // By packets: each trainer asks when it likes, for ids that come twice, are
                     // padding or out of the table; and asks nobody if it needs nothing.
                     open(tables);
                     if (w.is_parameter_server()) {
                       int packets = 0;
                       for (const int row : {20, 21, 99})
                         packets += row >= tables.first(0) && row < tables.end(0) ? 1 : 0;
                       const bool of_users = tables.first(1) <= 1 && 1 < tables.end(1);
                       return answer(w, tables, packets > 0 || of_users ? 1 : 0);
                     }
                     if (w.rank() == 0) return tables.fetch(nullptr, 0, purpose::training);
                     const std::vector<std::int64_t> more{20, 99, 20, 21, -1, 101, 33}, one{1};
                     lamina::looked_up_ids next[] = {look_up(0, more, 33), look_up(1, one)};
                     tables.fetch(next, 2, purpose::training);
                     const std::lock_guard lock(mutex);
                     for (const int row : {20, 21, 99}) CHECK(has_row(tables, 0, row));
                     CHECK(has_row(tables, 1, 1));
                     CHECK_FALSE(has_row(tables, 0, 33));
                     CHECK_FALSE(has_row(tables, 1, 2));
                   },
                   {.parameter_servers = servers, .staleness = 1});
  }
}

TEST_CASE("servers add up gradients in the order of the parts", "[threads]") {
  const std::vector<float> weight{0.3f, 0.7f, 0.0f, 0.6f};
  selected_rows expected[2];
  test::in_ranks(1, [&](test::thread_group& w) {
    for (int t = 0; t < 2; ++t) {
      std::vector<selected_rows> parts;
      for (int p = 0; p < 4; ++p) parts.push_back(part_of(p, t));
      std::vector<selected_rows*> of;
      for (auto& p : parts) of.push_back(&p);
      lamina::distributed::rows_exchange<float>(w).reduce(of, parts[0].columns(), weight);
      expected[t] = std::move(*of[0]);
    }
  });
  for (const int servers : {1, 3, 4}) {
    std::mutex mutex;
    int found = 0;
    double squares = 0, of_trainers = 0;
    test::in_ranks(
        2 + servers,
        [&](test::thread_group& w) {
          ps_embedding tables(w, two_tables(), 5);
          open(tables);
          if (!w.is_parameter_server()) {
            for (int t = 0; t < 2; ++t) {
              selected_rows mine[2] = {part_of(2 * w.rank(), t), part_of(2 * w.rank() + 1, t)};
              selected_rows* const of[] = {&mine[0], &mine[1]};
              tables.reduce_rows(t, of, {weight.data(), sizeof(float), 4, 2});
              CHECK(mine[0].size() == 0);
            }
            for (int s = 0; s < servers; ++s) {
              const auto mine = std::make_shared<packet>();
              tables.add_gradients(s, *mine);
              w.post(2 + s, mine);
            }
            tables.begin_squares();
            packet got;
            for (int s = 0; s < servers; ++s) {
              const int from = w.receive(got, {}, 1);
              lamina::distributed::packet_reader reader(got);
              tables.read_squares(from - 2, reader);
            }
            const std::lock_guard lock(mutex);
            of_trainers += tables.all_reduce_sum(0, 1000) + tables.all_reduce_sum(1, 1000);
            return;
          }
          packet of[2], got;
          for (int k = 0; k < 2; ++k) {
            const int from = w.receive(got, {}, 1);
            of[from] = std::move(got);
          }
          std::vector<lamina::distributed::packet_reader> readers;
          for (const packet& l : of) readers.emplace_back(l);
          tables.sum(readers);
          for (const auto& r : readers) CHECK(r.left() == 0);
          updated_rows updated;
          tables.update({&updated, nullptr, &updated_rows::note, nullptr});
          const auto answer = std::make_shared<packet>();
          tables.add_squares(*answer);
          for (int r = 0; r < 2; ++r) w.post(r, answer);
          const std::lock_guard lock(mutex);
          for (int t = 0; t < 2; ++t) {
            const selected_rows& mine = updated.of[static_cast<std::size_t>(t)];
            int next = 0;
            for (int i = 0; i < expected[t].size(); ++i) {
              const int row = expected[t].number(i);
              if (row < tables.first(t) || row >= tables.end(t)) continue;
              REQUIRE(next < mine.size());
              CHECK(mine.number(next) == row);
              CHECK(std::memcmp(mine.row(next++), expected[t].row(i),
                                static_cast<std::size_t>(mine.columns()) * sizeof(float)) == 0);
            }
            CHECK(next == mine.size());
            found += next;
            squares += lamina::engine::cpu::squares_of(mine);
          }
        },
        {.parameter_servers = servers});
    CHECK(found == expected[0].size() + expected[1].size());
    CHECK(squares > 0);
    CHECK(of_trainers == Approx(2 * squares));
  }
}

TEST_CASE("damaged packets about rows are refused", "[threads]") {
  const auto found = test::errors_of(
      3,
      [](test::thread_group& w) {
        ps_embedding tables(w, two_tables(), 5);
        open(tables);
        if (w.rank() < 2) return;
        const auto asks = [&](int count, int row) {
          const auto l = lamina::distributed::new_packet({.kind = packet_kind::rows});
          l->add(count);
          l->add(row);
          return l;
        };
        std::string all;
        const auto note = [&](auto&& f) {
          try {
            f();
            all += "nothing;";
          } catch (const lamina::error& e) {
            all += std::string(e.what()) + ";";
          }
        };
        note([&] { tables.answer_rows(0, *asks(1, 101)); });
        note([&] { tables.answer_rows(0, *asks(1, -1)); });
        note([&] { tables.answer_rows(0, *asks(7, 1)); });
        note([&] { tables.send_arrays(*asks(1, 2)); });
        throw lamina::error(all);
      },
      {.parameter_servers = 1});
  REQUIRE(found.size() == 1);
  CHECK_THAT(found.at(2), Catch::Contains("table words: expected rows 0 to 100, found 101;"));
  CHECK_THAT(found.at(2), Catch::Contains("table words: expected rows 0 to 100, found -1;"));
  CHECK_THAT(found.at(2), Catch::Contains("expected a longer message, found its end;"));
  CHECK_THAT(found.at(2), !Catch::Contains("nothing;"));
}
