// SPDX-License-Identifier: Apache-2.0
// Rows and whole sequences split by a mask and merged again, and one of several variables.

#include "laws/kernel_bench.hpp"

#include <lamina/operators/control/rank_table/cpu.hpp>
#include <lamina/operators/control/split_merge/cpu.hpp>

using Catch::Contains;
using namespace lamina;

using bench = lamina::law::kernel_bench;

using floats = std::vector<float>;

namespace {

constexpr int of_batch = batch::domain;

}  // namespace

TEST_CASE("Rows are split by a mask and merged again") {
  bench b;
  const int yes = b.add_domain(domain_kind::subset, of_batch);
  const int no = b.add_domain(domain_kind::subset, of_batch);
  b.feed_rows(of_batch, 5);
  const int x = b.add<float>(of_batch, {2}, true), mask = b.add<bool>(of_batch, {1}, true);
  const int in_yes = b.add<float>(yes, {2}), in_no = b.add<float>(no, {2});
  const int out = b.add<float>(of_batch, {2});
  b.set<float>(x, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  b.set<bool>(mask, {true, false, true, true, false});
  b.call<operators::split_lod_tensor>({x, mask}, {in_yes, in_no});
  CHECK(b.get<float>(in_yes) == floats{0, 1, 4, 5, 6, 7});
  CHECK(b.get<float>(in_no) == floats{2, 3, 8, 9});
  b.call<operators::merge_lod_tensor>({mask, mask, in_yes, in_no}, {out});
  CHECK(b.get<float>(out) == b.get<float>(x));
  b.call<operators::merge_lod_tensor>({x, mask, -1, in_no}, {out});
  CHECK(b.get<float>(out) == floats{0, 0, 2, 3, 0, 0, 0, 0, 8, 9});
  b.set<bool>(mask, {false, false, false, false, false});
  b.call<operators::split_lod_tensor>({x, mask}, {in_yes, -1});
  CHECK(b.rows(yes) == 0);
  CHECK_THROWS_WITH((b.call<operators::merge_lod_tensor>({mask, mask, in_yes, in_no}, {out})),
                    Contains("expected 5 rows for the entries of the mask, found 2"));
}

TEST_CASE("Whole sequences are split by a mask and merged again") {
  bench b;
  const int yes = b.add_domain(domain_kind::subset, of_batch);
  const int no = b.add_domain(domain_kind::subset, of_batch);
  const int words = b.add_domain(domain_kind::sequence, of_batch);
  const int yes_words = b.add_domain(domain_kind::sequence, yes);
  const int no_words = b.add_domain(domain_kind::sequence, no);
  const int merged = b.add_domain(domain_kind::sequence, of_batch);
  b.feed_rows(of_batch, 4);
  b.feed_lengths(words, {2, 0, 1, 3});
  const int x = b.add<float>(words, {1}), mask = b.add<bool>(of_batch, {1});
  const int in_yes = b.add<float>(yes_words, {1}), in_no = b.add<float>(no_words, {1});
  const int out = b.add<float>(merged, {1}), dx = b.add<float>(words, {1});
  b.set<float>(x, {0, 1, 2, 3, 4, 5});
  b.set<bool>(mask, {false, false, true, true});
  b.call<operators::split_lod_tensor>({x, mask}, {in_yes, in_no});
  CHECK(b.rows(yes) == 2);
  CHECK(b.lengths(yes_words) == std::vector<int>{1, 3});
  CHECK(b.get<float>(in_yes) == floats{2, 3, 4, 5});
  CHECK(b.lengths(no_words) == std::vector<int>{2, 0});
  CHECK(b.get<float>(in_no) == floats{0, 1});
  b.call<operators::merge_lod_tensor>({mask, mask, in_yes, in_no}, {out});
  CHECK(b.lengths(merged) == std::vector<int>{2, 0, 1, 3});
  CHECK(b.get<float>(out) == b.get<float>(x));
  b.call<operators::merge_lod_tensor>({x, mask, in_yes, -1}, {dx});
  CHECK(b.get<float>(dx) == floats{0, 0, 2, 3, 4, 5});
}

TEST_CASE("One of several variables by number") {
  bench b;
  b.feed_rows(of_batch, 2);
  const int x = b.add<float>(of_batch, {1}), y = b.add<float>(of_batch, {1});
  const int out = b.add<float>(of_batch, {1}), i = b.add<std::int32_t>(0, {1});
  b.set<float>(x, {1, 2});
  b.set<float>(y, {3, 4});
  b.set<std::int32_t>(i, {1});
  b.call<operators::select_input>({x, y, i}, {out}, {}, {2});
  CHECK(b.get<float>(out) == floats{3, 4});
  const int first = b.add<float>(of_batch, {1}), second = b.add<float>(of_batch, {1});
  b.set<float>(first, {7, 8});
  b.call<operators::select_output>({x, i}, {first, second}, {}, {2});
  CHECK(b.get<float>(first) == floats{7, 8});
  CHECK(b.get<float>(second) == floats{1, 2});
  b.set<std::int32_t>(i, {2});
  CHECK_THROWS_WITH((b.call<operators::select_input>({x, y, i}, {out}, {}, {2})),
                    Contains("mask in row 0: expected 0 to 1, found 2"));
}
