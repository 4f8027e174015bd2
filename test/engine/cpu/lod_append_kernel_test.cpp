// SPDX-License-Identifier: Apache-2.0
// lod_reset with append on the engine: a sequence for each row.
#include "laws/kernel_bench.hpp"

#include <lamina/operators/sequence/expand/cpu.hpp>

using namespace lamina;
using floats = std::vector<float>;
using Catch::Contains;

TEST_CASE("A sequence for each row, which the rows do not belong to") {
  law::kernel_bench b;
  const int words = b.add_domain(domain_kind::sequence, batch::domain);
  const int parts = b.add_domain(domain_kind::sequence, words);
  b.feed_rows(batch::domain, 2);
  b.feed_lengths(words, {1, 2});
  const int x = b.add<float>(words, {1}), y = b.add<float>(parts, {1});
  const int offsets = b.add<std::int64_t>(0, {4}), few = b.add<std::int64_t>(0, {3});
  b.set<float>(x, {1, 2, 3});
  b.set<std::int64_t>(offsets, {0, 2, 2, 3});
  b.call<lod_reset>({x, offsets}, {y}, {0, 1});
  CHECK(b.get<float>(y) == floats{1, 2, 3});
  CHECK(b.lengths(parts) == std::vector<int>{2, 0, 1});
  CHECK(b.lengths(words) == std::vector<int>{1, 2});
  b.set<std::int64_t>(few, {0, 1, 3});
  CHECK_THROWS_WITH((b.call<lod_reset>({x, few}, {y}, {0, 1})),
                    Contains("expected one sequence for each of 3 rows, found 3 offsets"));
}
