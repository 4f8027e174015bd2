// SPDX-License-Identifier: Apache-2.0
// Arrays of tensors: written and read by number, their gradients, their sequences.

#include "laws/kernel_bench.hpp"

#include <lamina/operators/control/rank_table/cpu.hpp>
#include <lamina/operators/control/split_merge/cpu.hpp>

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

TEST_CASE("Arrays are written and read by number") {
  sequences b;
  const int a = b.add_array<float>(b.step, {2}), x = b.add<float>(b.step, {2});
  const int y = b.add<float>(b.step, {2}), n = b.add<std::int64_t>(0, {1});
  const auto write = [&](int at, const floats& values) {
    b.set<std::int64_t>(b.i, {at});
    b.feed_rows(b.step, static_cast<int>(values.size()) / 2);
    b.set(x, values);
    b.call<operators::write_to_array>({x, b.i}, {a});
  };
  const auto read = [&](int at) {
    b.set<std::int64_t>(b.i, {at});
    b.call<operators::read_from_array>({a, b.i}, {y});
    return b.get<float>(y);
  };
  write(0, {1, 2, 3, 4});
  write(2, {5, 6});
  CHECK(read(0) == floats{1, 2, 3, 4});
  CHECK(read(2) == floats{5, 6});
  CHECK_THROWS_WITH(read(1), Contains("read_from_array: expected a value at index 1 of an array of "
                                      "3 values, found none"));
  CHECK_THROWS_WITH(read(-1), Contains("expected an index from 0 on, found -1"));
  write(2, {7, 8, 9, 10, 11, 12});
  CHECK(read(2) == floats{7, 8, 9, 10, 11, 12});
  CHECK(read(0) == floats{1, 2, 3, 4});
  b.call<operators::lod_array_length>({a}, {n});
  CHECK(b.get<std::int64_t>(n) == numbers{3});
}

TEST_CASE("Gradients of array slots add up, and are taken once") {
  sequences b;
  b.feed_rows(b.step, 2);
  const int d = b.add<float>(b.step, {2}), da = b.add_array<float>(b.step, {2});
  const int x = b.add<float>(b.step, {2}), dx = b.add<float>(b.step, {2});
  b.set<std::int64_t>(b.i, {1});
  b.set<float>(d, {1, 2, 3, 4});
  b.call<operators::read_from_array_gradient>({b.i, d}, {da});
  b.call<operators::read_from_array_gradient>({b.i, d}, {da});
  CHECK(b.get<float>(da, 1) == floats{2, 4, 6, 8});
  b.call<operators::write_to_array_gradient>({x, b.i, da}, {dx});
  CHECK(b.get<float>(dx) == floats{2, 4, 6, 8});
  b.call<operators::write_to_array_gradient>({x, b.i, da}, {dx});
  CHECK(b.get<float>(dx) == floats{0, 0, 0, 0});
  b.call<operators::read_from_array_gradient>({b.i, d}, {da});
  b.call<operators::write_to_array_gradient>({x, b.i, da}, {-1});
  CHECK_FALSE(b.array(da).holds(1));

  const int e = b.add_array<float>(of_batch, {2}), of_all = b.add<float>(of_batch, {2});
  b.set<float>(of_all, {1, 2, 3, 4, 5, 6});
  b.call<operators::write_to_array>({of_all, b.i}, {e});
  CHECK_THROWS_WITH((b.call<operators::write_to_array_gradient>({x, b.i, e}, {dx})),
                    Contains("write_to_array_grad: expected 2 rows at index 1 of the array, "
                             "found 3"));
}

TEST_CASE("A step may have fewer rows than the one before") {
  sequences b;
  b.feed_rows(b.ranked, 3);
  const int a = b.add_array<float>(b.ranked, {1}), x = b.add<float>(b.step, {1});
  const int y = b.add<float>(b.ranked, {1}), da = b.add_array<float>(b.ranked, {1});
  const int dx = b.add<float>(b.step, {1});
  b.set<std::int64_t>(b.i, {1});
  b.feed_rows(b.step, 2);
  b.set<float>(x, {1, 2});
  b.call<operators::write_to_array>({x, b.i}, {a});
  b.keep_rows(b.ranked);
  b.call<operators::read_from_array>({a, b.i}, {y});
  CHECK(b.get<float>(y) == floats{1, 2, 0});
  b.set<float>(y, {3, 4, 5});
  b.call<operators::read_from_array_gradient>({b.i, y}, {da});
  b.call<operators::read_from_array_gradient>({b.i, x}, {da});
  CHECK(b.get<float>(da, 1) == floats{4, 6, 5});
  b.call<operators::write_to_array_gradient>({x, b.i, da}, {dx});
  CHECK(b.get<float>(dx) == floats{4, 6});
}

TEST_CASE("Slots keep the sequences of two levels") {
  bench b;
  const int step = b.add_domain(domain_kind::step, of_batch);
  const int outer = b.add_domain(domain_kind::sequence, step);
  const int inner = b.add_domain(domain_kind::sequence, outer);
  const int a = b.add_array<float>(inner, {1}), x = b.add<float>(inner, {1});
  const int i = b.add<std::int64_t>(0, {1});
  b.feed_rows(step, 2);
  b.feed_lengths(outer, {1, 2});
  b.feed_lengths(inner, {2, 0, 1});
  b.set<float>(x, {1, 2, 3});
  b.set<std::int64_t>(i, {0});
  b.call<operators::write_to_array>({x, i}, {a});
  b.feed_rows(step, 1);
  b.feed_lengths(outer, {1});
  b.feed_lengths(inner, {1});
  b.set<float>(x, {9});
  b.set<std::int64_t>(i, {1});
  b.call<operators::write_to_array>({x, i}, {a});
  b.set<std::int64_t>(i, {0});
  b.call<operators::read_from_array>({a, i}, {x});
  CHECK(b.rows(step) == 2);
  CHECK(b.lengths(outer) == std::vector<int>{1, 2});
  CHECK(b.lengths(inner) == std::vector<int>{2, 0, 1});
  CHECK(b.get<float>(x) == floats{1, 2, 3});
  b.set<std::int64_t>(i, {1});
  b.call<operators::read_from_array>({a, i}, {x});
  CHECK(b.lengths(inner) == std::vector<int>{1});
  CHECK(b.get<float>(x) == floats{9});
}
