// SPDX-License-Identifier: Apache-2.0
// Rank tables: sequences longest first, step by step, and rows in that order.

#include "laws/kernel_bench.hpp"

#include <lamina/operators/control/rank_table/cpu.hpp>

using Catch::Contains;
using namespace lamina;

using bench = lamina::law::kernel_bench;

using floats = std::vector<float>;

using numbers = std::vector<std::int64_t>;

namespace {

constexpr int of_batch = batch::domain;

/// Sequences of lengths 2, 0, 3 with rows 10, 11, 20, 21, 22 of two columns, and their rank table.
struct sequences : bench {
  int words = add_domain(domain_kind::sequence, of_batch);
  int step = add_domain(domain_kind::step, of_batch);
  int ranked = add_domain(domain_kind::step, of_batch);
  int x, table, i;

  sequences() {
    feed_rows(of_batch, 3);
    feed_lengths(words, {2, 0, 3});
    x = add<float>(words, {2});
    table = add<std::int64_t>(of_batch, {2});
    i = add<std::int64_t>(0, {1});
    set<float>(x, {10, 10.5f, 11, 11.5f, 20, 20.5f, 21, 21.5f, 22, 22.5f});
    call<operators::lod_rank_table>({x}, {table});
  }
};

}  // namespace

TEST_CASE("A rank table: longest first, equal ones in their order") {
  bench b;
  const int words = b.add_domain(domain_kind::sequence, of_batch);
  b.feed_rows(of_batch, 6);
  b.feed_lengths(words, {1, 3, 0, 3, 1, 2});
  const int x = b.add<float>(words, {1}), table = b.add<std::int64_t>(of_batch, {2});
  const int longest = b.add<std::int64_t>(0, {1});
  b.call<operators::lod_rank_table>({x}, {table});
  CHECK(b.get<std::int64_t>(table) == numbers{1, 3, 3, 3, 5, 2, 0, 1, 4, 1, 2, 0});
  b.call<operators::max_sequence_len>({table}, {longest});
  CHECK(b.get<std::int64_t>(longest) == numbers{3});

  bench none;
  const int empty = none.add_domain(domain_kind::sequence, of_batch);
  none.feed_lengths(empty, {});
  const int y = none.add<float>(empty, {1}), of_y = none.add<std::int64_t>(of_batch, {2});
  const int length = none.add<std::int64_t>(0, {1});
  none.call<operators::lod_rank_table>({y}, {of_y});
  none.call<operators::max_sequence_len>({of_y}, {length});
  CHECK(none.get<std::int64_t>(length) == numbers{0});
}

TEST_CASE("Sequences step by step and back") {
  sequences b;
  const int array = b.add_array<float>(b.step, {2}), back = b.add<float>(b.words, {2});
  b.call<operators::lod_tensor_to_array>({b.x, b.table}, {array});
  REQUIRE(b.array(array).size() == 3);
  CHECK(b.get<float>(array, 0) == floats{20, 20.5f, 10, 10.5f});
  CHECK(b.get<float>(array, 1) == floats{21, 21.5f, 11, 11.5f});
  CHECK(b.get<float>(array, 2) == floats{22, 22.5f});
  b.call<operators::array_to_lod_tensor>({array, b.table}, {back});
  CHECK(b.get<float>(back) == b.get<float>(b.x));
  b.array(array).erase(1);
  b.call<operators::array_to_lod_tensor>({array, b.table}, {back});
  CHECK(b.get<float>(back) == floats{10, 10.5f, 0, 0, 20, 20.5f, 0, 0, 22, 22.5f});
  b.array(array).write(1, 3, 48);
  CHECK_THROWS_WITH((b.call<operators::array_to_lod_tensor>({array, b.table}, {back})),
                    Contains("array_to_lod_tensor: expected 2 rows at index 1 of the array, "
                             "found 3"));
}

TEST_CASE("Rows in the order of a rank table, and the first of them") {
  sequences b;
  const int x = b.add<float>(of_batch, {1}), sorted = b.add<float>(b.ranked, {1});
  const int some = b.add<float>(b.step, {1});
  b.set<float>(x, {1, 2, 3});
  b.call<operators::reorder_lod_tensor_by_rank>({x, b.table}, {sorted});
  CHECK(b.get<float>(sorted) == floats{3, 1, 2});
  for (const int t : {0, 1, 2, 3}) {
    b.set<std::int64_t>(b.i, {t});
    b.call<operators::shrink_rnn_memory>({sorted, b.i, b.table}, {some});
    CHECK(b.get<float>(some) == (t < 2 ? floats{3, 1} : t == 2 ? floats{3} : floats{}));
  }
  b.feed_rows(b.step, 2);
  const int d = b.add<float>(b.step, {1}), d_sorted = b.add<float>(b.ranked, {1});
  const int dx = b.add<float>(of_batch, {1});
  b.set<float>(d, {5, 6});
  b.call<gradient_of<operators::shrink_rnn_memory>>({sorted, d}, {d_sorted});
  CHECK(b.get<float>(d_sorted) == floats{5, 6, 0});
  b.call<gradient_of<operators::reorder_lod_tensor_by_rank>>({b.table, d_sorted}, {dx});
  CHECK(b.get<float>(dx) == floats{6, 0, 5});

  const int like = b.add<float>(b.ranked, {2});
  b.feed_rows(b.ranked, 1);
  b.call<operators::fill_constant_batch_size_like>({b.table}, {like}, {0, 5, 0.5, 0, 0});
  CHECK(b.get<float>(like) == floats{0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f});
  b.feed_rows(b.ranked, 1);
  b.set<std::int64_t>(b.i, {0});
  CHECK_THROWS_WITH((b.call<operators::shrink_rnn_memory>({sorted, b.i, b.table}, {some})),
                    Contains("expected at least 2 rows or sequences, found 1"));
}

TEST_CASE("Whole sequences in the order of a rank table, and the first of them") {
  sequences b;
  const int topics = b.add_domain(domain_kind::sequence, of_batch);
  const int sorted_topics = b.add_domain(domain_kind::sequence, b.ranked);
  const int step_topics = b.add_domain(domain_kind::sequence, b.step);
  b.feed_lengths(topics, {1, 2, 2});
  const int x = b.add<float>(topics, {1}), sorted = b.add<float>(sorted_topics, {1});
  const int some = b.add<float>(step_topics, {1});
  b.set<float>(x, {1, 2, 3, 4, 5});
  b.call<operators::reorder_lod_tensor_by_rank>({x, b.table}, {sorted});
  CHECK(b.rows(b.ranked) == 3);
  CHECK(b.lengths(sorted_topics) == std::vector<int>{2, 1, 2});
  CHECK(b.get<float>(sorted) == floats{4, 5, 1, 2, 3});
  b.set<std::int64_t>(b.i, {1});
  b.call<operators::shrink_rnn_memory>({sorted, b.i, b.table}, {some});
  CHECK(b.rows(b.step) == 2);
  CHECK(b.lengths(step_topics) == std::vector<int>{2, 1});
  CHECK(b.get<float>(some) == floats{4, 5, 1});
  const int dx = b.add<float>(topics, {1});
  b.call<gradient_of<operators::reorder_lod_tensor_by_rank>>({b.table, sorted}, {dx});
  CHECK(b.get<float>(dx) == b.get<float>(x));
}

TEST_CASE("A dimension as an array, and back") {
  bench b;
  b.feed_rows(of_batch, 2);
  const int x = b.add<std::int64_t>(of_batch, {2, 3}), y = b.add<std::int64_t>(of_batch, {2, 3});
  numbers all;
  for (int i = 0; i < 12; ++i) all.push_back(i);
  b.set(x, all);
  const int middle = b.add_array<std::int64_t>(of_batch, {3});
  b.call<operators::tensor_to_tensor_array>({x}, {middle}, {1});
  REQUIRE(b.array(middle).size() == 2);
  CHECK(b.get<std::int64_t>(middle, 1) == numbers{3, 4, 5, 9, 10, 11});
  b.call<operators::tensor_array_to_tensor>({middle}, {y}, {1, 1});
  CHECK(b.get<std::int64_t>(y) == all);
  b.array(middle).erase(0);
  b.call<operators::tensor_array_to_tensor>({middle}, {y}, {1, 1});
  CHECK(b.get<std::int64_t>(y) == numbers{0, 0, 0, 3, 4, 5, 0, 0, 0, 9, 10, 11});
  const int last = b.add_array<std::int64_t>(of_batch, {2});
  b.call<operators::tensor_to_tensor_array>({x}, {last}, {-1});
  REQUIRE(b.array(last).size() == 3);
  CHECK(b.get<std::int64_t>(last, 2) == numbers{2, 5, 8, 11});
  b.call<operators::tensor_array_to_tensor>({last}, {y}, {2, 1});
  CHECK(b.get<std::int64_t>(y) == all);
  // Without rows of samples: the first dimension.
  const int whole = b.add<float>(0, {3, 4}), again = b.add<float>(0, {3, 4});
  const int rows = b.add_array<float>(0, {4});
  b.set<float>(whole, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  b.call<operators::tensor_to_tensor_array>({whole}, {rows}, {0});
  REQUIRE(b.array(rows).size() == 3);
  CHECK(b.get<float>(rows, 2) == floats{8, 9, 10, 11});
  b.call<operators::tensor_array_to_tensor>({rows}, {again}, {0, 1});
  CHECK(b.get<float>(again) == b.get<float>(whole));
  CHECK_THROWS_WITH((b.call<operators::tensor_array_to_tensor>({rows}, {again}, {0, 0})),
                    Contains("expected use_stack"));
}
