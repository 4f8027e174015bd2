// SPDX-License-Identifier: Apache-2.0
// A reader of several decorators gives passes to an endless source.
#include <set>

#include "reader/read.hpp"
#include <catch2/catch.hpp>

#include <lamina/reader/reader.hpp>

namespace reader = lamina::reader;

namespace {

struct sample {
  float x, y;
};

lamina::generator<sample> synthetic() {
  for (float x = 0;; ++x) co_yield {x, 2 * x + 1};
}

}  // namespace

TEST_CASE("the pipe of the design gives passes to an endless reader", "[reader]") {
  auto pipe = synthetic | reader::shuffle(1000) | reader::batch(32) | reader::buffered(8) |
              reader::first_n(100);
  std::set<float> seen;
  int batches = 0;
  for (auto&& minibatch : reader::begin_pass(pipe)) {
    REQUIRE(minibatch.size() == 32);
    for (auto [x, y] : minibatch) {
      CHECK(y == 2 * x + 1);
      seen.insert(x);
    }
    ++batches;
  }
  CHECK(batches == 100);
  CHECK(seen.size() == 3200);
}
