// SPDX-License-Identifier: Apache-2.0
// Bad input to operators on sequences: engine and executor say the same.
#include <cmath>

#include "laws/kernel_bench.hpp"

#include <lamina/operators/loss/ctc/cpu.hpp>
#include <lamina/operators/metric/sequence/cpu.hpp>
#include <lamina/operators/sequence/expand/cpu.hpp>
#include <lamina/operators/sequence/ids/cpu.hpp>
#include <lamina/operators/sequence/pad/cpu.hpp>
#include <lamina/operators/sequence/shape/cpu.hpp>

using Catch::Contains;
using namespace lamina;

using floats = std::vector<float>;

using numbers = std::vector<std::int64_t>;

namespace {

/// Sequences of lengths 2, 0, 1.
struct three_sequences : law::kernel_bench {
  int words = add_domain(domain_kind::sequence, batch::domain);
  int made = add_domain(domain_kind::sequence, batch::domain);
  int x, id, one;

  three_sequences() {
    feed_rows(batch::domain, 3);
    feed_lengths(words, {2, 0, 1});
    x = add<float>(words, {2});
    id = add<std::int64_t>(words, {1});
    one = add<float>(0, {1});
    set<float>(x, {1, 2, 3, 4, 5, 6});
    set<std::int64_t>(id, {0, 1, 2});
    set<float>(one, {0});
  }
};

}  // namespace

TEST_CASE("bad input: padding") {
  three_sequences b;
  const int wide = b.add<float>(batch::domain, {1, 2}),
            length = b.add<std::int64_t>(batch::domain, {1});
  CHECK_THROWS_WITH((b.call<operators::sequence_pad>({b.x, b.one}, {wide, length}, {1})),
                    Contains("sequence_pad: expected sequences of at most 1 rows, found 2 in "
                             "sequence 0"));
  const int three = b.add<float>(0, {3}), wider = b.add<float>(batch::domain, {2, 2});
  CHECK_THROWS_WITH((b.call<operators::sequence_pad>({b.x, three}, {wider, length}, {2})),
                    Contains("expected 1 or 2 numbers to pad with, found 3"));
  const int back = b.add<float>(b.made, {2});
  b.set<std::int64_t>(length, {2, 3, 0});
  CHECK_THROWS_WITH((b.call<operators::sequence_unpad>({wider, length}, {back})),
                    Contains("sequence_unpad: length in row 1: expected 0 to 2, found 3"));
}

TEST_CASE("bad input: parts, and rows of another width") {
  three_sequences b;
  const int offset = b.add<std::int64_t>(batch::domain, {1}),
            length = b.add<std::int32_t>(batch::domain, {1});
  const int out = b.add<float>(b.made, {2}), wide = b.add<float>(b.made, {4});
  const auto slice = [&](const numbers& from, const std::vector<std::int32_t>& n) {
    b.set(offset, from);
    b.set(length, n);
    b.call<operators::sequence_slice>({b.x, offset, length}, {out});
  };
  slice({1, 0, 0}, {1, 0, 1});
  CHECK(b.get<float>(out) == floats{3, 4, 5, 6});
  CHECK_THROWS_WITH(slice({0, 1, 0}, {1, 0, 1}),
                    Contains("offset in row 1: expected 0 to 0, found 1"));
  CHECK_THROWS_WITH(slice({1, 0, 0}, {1, 0, 2}),
                    Contains("length in row 2: expected 0 to 1, found 2"));
  CHECK_THROWS_WITH((b.call<operators::sequence_reshape>({b.x}, {wide}, {4})),
                    Contains("sequence_reshape: expected sequences whose elements fill rows of 4, "
                             "found 1 rows of 2 in sequence 2"));
}

TEST_CASE("bad input: positions out of range") {
  three_sequences b;
  const int x = b.add<float>(batch::domain, {2}), out = b.add<float>(batch::domain, {2});
  const int update = b.add<float>(b.words, {1});
  b.set<float>(x, {0, 0, 0, 0, 0, 0});
  b.set<float>(update, {1, 2, 3});
  CHECK_THROWS_WITH((b.call<operators::sequence_scatter>({x, b.id, update}, {out})),
                    Contains("sequence_scatter: id in row 2: expected 0 to 1, found 2"));
}

TEST_CASE("bad input: offsets of sequences") {
  three_sequences b;
  const int groups = b.add_domain(domain_kind::subset, batch::domain);
  const int group = b.add_domain(domain_kind::sequence, groups);
  const int out = b.add<float>(group, {2}), offsets = b.add<std::int64_t>(0, {4});
  const auto reset = [&](const numbers& at) {
    b.set(offsets, at);
    b.call<operators::lod_reset>({b.x, offsets}, {out});
  };
  reset({0, 2, 2, 3});
  CHECK(b.rows(groups) == 3);
  CHECK(b.lengths(group) == std::vector<int>{2, 0, 1});
  CHECK(b.get<float>(out) == b.get<float>(b.x));
  b.call<operators::lod_reset>({b.x, -1}, {out}, {std::vector<int>{0, 3}, false});
  CHECK(b.rows(groups) == 1);
  CHECK(b.lengths(group) == std::vector<int>{3});
  CHECK_THROWS_WITH(reset({0, 2, 1, 3}),
                    Contains("never descend and end with 3, found 1 at position 2"));
  CHECK_THROWS_WITH(reset({1, 2, 2, 3}), Contains("found 1 at position 0"));
  CHECK_THROWS_WITH(reset({0, 2, 2, 2}), Contains("found 2 at position 3"));
}

TEST_CASE("bad input: distances and chunks") {
  three_sequences b;
  const int count = b.add<std::int64_t>(0, {1}), distance = b.add<float>(batch::domain, {1});
  CHECK_THROWS_WITH((b.call<operators::edit_distance>({b.id, b.id}, {count, distance}, {true})),
                    Contains("edit_distance: expected references with rows to divide by their "
                             "lengths, found none in sequence 1"));
  const std::vector<int> none(6, -1), nothing;
  CHECK_THROWS_WITH((b.call<operators::chunk_eval>({b.id, b.id}, none, {1, "BIO", nothing})),
                    Contains("expected the chunk_scheme IOB, IOE, IOBES or plain, found BIO"));
  CHECK_THROWS_WITH((b.call<operators::chunk_eval>({b.id, b.id}, none, {1, "plain", nothing})),
                    Contains("tag in row 2: expected 0 to 1, found 2"));
}

TEST_CASE("bad input: labels without positions") {
  three_sequences b;
  const int loss = b.add<float>(batch::domain, {1}), label = b.add<std::int64_t>(b.made, {1});
  const auto cost = [&](const std::vector<int>& lengths, const numbers& labels, int blank) {
    b.feed_lengths(b.made, lengths);
    b.set(label, labels);
    b.call<operators::warpctc>({b.x, label}, {-1, loss}, {blank, false});
    return b.get<float>(loss);
  };
  // In each row e^1 for class 1 against e^0: the paths 11, 01 and 10; none; a blank.
  const float both = std::log(1 + std::exp(1.0f));
  const floats found = cost({1, 0, 0}, {1}, 0);
  CHECK(found[0] == Approx(2 * both - 1 - std::log(2 + std::exp(1.0f))));
  CHECK(found[1] == 0);
  CHECK(found[2] == Approx(both));
  CHECK_THROWS_WITH(cost({2, 0, 0}, {1, 1}, 0),
                    Contains("warpctc: expected at least 3 rows of scores in sequence 0 for its "
                             "labels, found 2"));
  CHECK_THROWS_WITH(cost({1, 0, 0}, {0}, 0), Contains("expected labels other than the blank 0"));
  CHECK_THROWS_WITH(cost({1, 0, 0}, {2}, 0), Contains("label in row 0: expected 0 to 1, found 2"));
  CHECK_THROWS_WITH(cost({0, 0, 0}, {}, 2), Contains("expected a blank from 0 to 1, found 2"));
}
