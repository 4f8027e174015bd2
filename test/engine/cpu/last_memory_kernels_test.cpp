// SPDX-License-Identifier: Apache-2.0
// The final states of memories on the engine: a row of the slot that a sequence's last step wrote.
#include "laws/kernel_bench.hpp"

#include <lamina/operators/control/rank_table/cpu.hpp>

using namespace lamina;
using floats = std::vector<float>;
using Catch::Contains;

namespace {

/// Sequences of lengths 2, 0, 3, 2, and a memory of two columns whose slots are numbered.
struct memory : law::kernel_bench {
  int words = add_domain(domain_kind::sequence, batch::domain);
  int ranked = add_domain(domain_kind::step, batch::domain);
  int x, table, i, states, value;

  memory() {
    feed_rows(batch::domain, 4);
    feed_lengths(words, {2, 0, 3, 2});
    x = add<float>(words, {2});
    table = add<std::int64_t>(batch::domain, {2});
    i = add<std::int64_t>(0, {1});
    states = add_array<float>(ranked, {2});
    value = add<float>(ranked, {2});
    call<lod_rank_table>({x}, {table});
    write(0, {0, 0.5f, 1, 1.5f, 2, 2.5f, 3, 3.5f});
    write(1, {10, 10.5f, 11, 11.5f, 12, 12.5f});
    write(2, {20, 20.5f, 21, 21.5f, 22, 22.5f});
  }
  void write(int at, const floats& values) {
    set<std::int64_t>(i, {at});
    feed_rows(ranked, static_cast<int>(values.size()) / 2);
    set(value, values);
    call<write_to_array>({value, i}, {states});
  }
};

}  // namespace

TEST_CASE("A final state is the row of the last step; that before the first one where none is") {
  memory b;
  const int last = b.add<float>(batch::domain, {2});
  CHECK_THROWS_WITH((b.call<last_rnn_memory>({b.states, b.table}, {last})),
                    Contains("last_rnn_memory: expected a row for sequence 2 at index 3 of the "
                             "array, found none"));
  b.write(3, {30, 30.5f});
  b.call<last_rnn_memory>({b.states, b.table}, {last});
  // By rank: sequences 2, 0, 3, 1.
  CHECK(b.get<float>(last) == floats{21, 21.5f, 3, 3.5f, 30, 30.5f, 22, 22.5f});
}

TEST_CASE("Gradients of final states add to those slots") {
  memory b;
  const int d = b.add<float>(batch::domain, {2}), to = b.add_array<float>(b.ranked, {2});
  b.set<float>(d, {1, 2, 3, 4, 5, 6, 7, 8});
  b.call<last_rnn_memory_gradient>({b.table, d}, {to});
  CHECK(b.get<float>(to, 0) == floats{0, 0, 0, 0, 0, 0, 3, 4});
  CHECK_FALSE(b.array(to).holds(1));
  CHECK(b.get<float>(to, 2) == floats{0, 0, 1, 2, 7, 8});
  CHECK(b.get<float>(to, 3) == floats{5, 6});
  b.call<last_rnn_memory_gradient>({b.table, d}, {to});
  CHECK(b.get<float>(to, 2) == floats{0, 0, 2, 4, 14, 16});
}
