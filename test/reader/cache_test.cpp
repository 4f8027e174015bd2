// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <tuple>
#include <vector>

#include "reader/read.hpp"
#include <catch2/catch.hpp>

#include <lamina/reader/cache.hpp>
#include <lamina/reader/compose.hpp>
#include <lamina/reader/first_n.hpp>
#include <lamina/reader/skip_n.hpp>

namespace reader = lamina::reader;
using test::endless;
using test::iota;
using test::read;

TEST_CASE("cache reads its source once", "[reader]") {
  int made = 0, passes = 0;
  auto counted = [&made, &passes]() -> lamina::generator<int> {
    ++passes;
    for (int i = 0; i < 4; ++i) ++made, co_yield i;
  };
  auto cached = counted | reader::cache();
  CHECK(read(cached | reader::first_n(2)) == iota(2));
  CHECK(made == 2);
  CHECK(read(cached) == iota(4));
  const auto copy = cached;
  CHECK(read(copy, 5) == iota(4));
  CHECK(made == 4);
  CHECK(passes == 1);
  CHECK(read(endless | reader::cache() | reader::first_n(3)) == iota(3));
  // Two passes of one cache, one ahead of the other.
  auto both = endless | reader::cache();
  CHECK(read(reader::compose(both, both | reader::skip_n(2)) | reader::first_n(2)) ==
        std::vector<std::tuple<int, int>>{{0, 2}, {1, 3}});
}

TEST_CASE("cache goes on after an error of its source", "[reader]") {
  bool broken = true;
  auto source = [&broken]() -> lamina::generator<int> {
    for (int i = 0; i < 4; ++i) {
      if (i == 2 && broken) throw std::runtime_error("unplugged");
      co_yield i;
    }
  };
  auto cached = source | reader::cache();
  CHECK_THROWS_WITH(read(cached), "unplugged");
  CHECK(read(cached | reader::first_n(2)) == iota(2));
  broken = false;
  CHECK(read(cached) == iota(4));
}
