// SPDX-License-Identifier: Apache-2.0
// shard: the shards of several processes.
#include <string>
#include <vector>

#include "reader/read.hpp"
#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/reader/batch.hpp>
#include <lamina/reader/map.hpp>
#include <lamina/reader/shard.hpp>
#include <lamina/reader/shuffle.hpp>

namespace reader = lamina::reader;
using test::iota;
using test::read;

namespace {

struct processes {
  int rank_, size_;
  int rank() const { return rank_; }
  int size() const { return size_; }
};
template <class... Arguments>
std::string message_of(Arguments... of) {
  try {
    reader::shard(of...);
  } catch (const lamina::error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("shards are whole together and have nothing in common", "[reader]") {
  CHECK(read(iota(8) | reader::shard(3, 0)) == std::vector{0, 3, 6});
  CHECK(read(iota(8) | reader::shard(3, 2)) == std::vector{2, 5});
  CHECK(read(iota(8) | reader::shard(3, 0, 2)) == std::vector{0, 1, 6, 7});
  CHECK(read(iota(8) | reader::shard(3, 1, 2)) == std::vector{2, 3});
  CHECK(read(iota(8) | reader::shard(1, 0)) == iota(8));
  CHECK(read(iota(2) | reader::shard(processes{2, 3})).empty());
  for (const int count : {1, 2, 3, 5, 40})
    for (const int block : {1, 2, 7}) {
      std::vector<int> seen(31);
      for (int i = 0; i < count; ++i)
        for (const int e : read(iota(31) | reader::shard(count, i, block)))
          ++seen[static_cast<std::size_t>(e)];
      CHECK(seen == std::vector<int>(31, 1));
    }
}

TEST_CASE("blocks of shards are the mini-batches of one process", "[reader]") {
  const auto source = iota(20) | reader::shuffle(20, 3);
  const auto whole = read(source | reader::batch(4));
  for (int rank = 0; rank < 2; ++rank) {
    const auto mine = read(source | reader::shard(processes{rank, 2}, 2) | reader::batch(2));
    REQUIRE(mine.size() == whole.size());
    for (std::size_t b = 0; b < mine.size(); ++b)
      for (std::size_t k = 0; k < 2; ++k)
        CHECK(mine[b][k] == whole[b][static_cast<std::size_t>(rank) * 2 + k]);
  }
}

TEST_CASE("adaptors behind a shard see the shard only, and each pass begins anew", "[reader]") {
  int calls = 0;
  const auto mine = iota(10) | reader::shard(5, 4) | reader::map([&calls](int x) {
                      ++calls;
                      return x;
                    });
  CHECK(read(mine) == std::vector{4, 9});
  CHECK(read(mine) == std::vector{4, 9});
  CHECK(calls == 4);
}

TEST_CASE("a shard that does not exist is an error", "[reader]") {
  CHECK(message_of(3, 3) == "lamina: reader::shard: expected an index from 0 to 2, found 3");
  CHECK(message_of(0, 0) == "lamina: reader::shard: expected at least 1 element, found 0");
  CHECK(message_of(2, -1) == "lamina: reader::shard: expected at least 0 elements, found -1");
  CHECK(message_of(2, 0, 0) == "lamina: reader::shard: expected at least 1 element, found 0");
}
