// SPDX-License-Identifier: Apache-2.0
// Decorators in a pipe: elements that are moved, aggregates, flags, passes that are reproduced.
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reader/read.hpp"
#include <catch2/catch.hpp>

#include <lamina/reader/adaptor.hpp>
#include <lamina/reader/reader.hpp>

namespace reader = lamina::reader;
using test::iota;
using test::read;

TEST_CASE("decorators move elements that cannot be copied", "[reader]") {
  auto source = []() -> lamina::generator<std::unique_ptr<int>> {
    for (int i = 0; i < 6; ++i) co_yield std::make_unique<int>(i);
  };
  auto piped = source | reader::shuffle(6) | reader::first_n(5) | reader::skip_n(1) |
               reader::buffered(2) | reader::xmap([](std::unique_ptr<int> p) { return p; }) |
               reader::batch(2) | reader::map([](auto&& b) { return std::move(b); });
  std::multiset<int> seen;
  for (auto&& b : reader::begin_pass(piped))
    for (auto& p : b) seen.insert(*p);
  CHECK(seen.size() == 4);
}

TEST_CASE("decorating leaves the user's own range alone", "[reader]") {
  const std::vector<std::string> words(3, "a word longer than the small buffer");
  const auto decorated = words | reader::shuffle(2) | reader::batch(2);
  for (int i = 0; i < 2; ++i)
    for (auto&& b : reader::begin_pass(decorated))
      for (auto& w : b) CHECK(w == words[0]);
}

TEST_CASE("every decorator carries aggregates of strings and vectors", "[reader]") {
  struct document {
    std::string title;
    std::vector<int> words;
  };
  auto source = []() -> lamina::generator<document> {
    for (int i = 0;; ++i) co_yield {std::string(40, 'x'), std::vector<int>(8, i)};
  };
  auto same = [](auto&& d) { return document(std::forward<decltype(d)>(d)); };
  auto r = reader::chain(source, source) | reader::cache() | reader::shuffle(4) |
           reader::map(same) | reader::xmap(same, 2, 3) | reader::buffered(2) | reader::skip_n(1) |
           reader::first_n(9) | reader::batch(4);
  for (int pass = 0; pass < 2; ++pass) {
    std::size_t count = 0;
    for (auto&& b : reader::begin_pass(r))
      for (auto& d : b) {
        CHECK(d.title == std::string(40, 'x'));
        CHECK(d.words.size() == 8);
        ++count;
      }
    CHECK(count == 9);
  }
}

TEST_CASE("flags can be read too", "[reader]") {
  const auto batches = read(std::vector<bool>{true, false, true} | reader::shuffle(1) |
                            reader::buffered(1) | reader::batch(2));
  CHECK(batches == std::vector<std::vector<bool>>{{true, false}, {true}});
}

TEST_CASE("adaptors join to a preparation of their own", "[reader]") {
  const auto prepare = reader::shuffle(10) | reader::batch(3) | reader::first_n(2);
  CHECK(read(iota(10) | prepare) ==
        read(iota(10) | reader::shuffle(10) | reader::batch(3) | reader::first_n(2)));
  CHECK(read(prepare(iota(10))) == read(iota(10) | prepare));
}

TEST_CASE("pass and position reproduce the stream", "[reader]") {
  // The source numbers its passes, so a decorator that loses the number is found.
  auto source = [](std::uint64_t pass) -> lamina::generator<int> {
    for (int i = 0; i < 50; ++i) co_yield static_cast<int>(pass) * 1000 + i;
  };
  auto doubled = [](int x) { return 2 * x; };
  auto r = reader::chain(source, source | reader::skip_n(3)) | reader::map(doubled) |
           reader::shuffle(64, 5) | reader::xmap(doubled, 3, 4) | reader::buffered(3) |
           reader::first_n(90) | reader::batch(7);
  auto zipped = reader::compose(reader::map([](int a, int b) { return a - b; }, source, source), r);
  for (std::uint64_t pass = 0; pass < 3; ++pass) {
    const auto whole = read(r, pass);
    REQUIRE(whole.size() == 13);
    for (auto& b : whole)
      for (int x : b) CHECK(x / 4000 == static_cast<int>(pass));
    CHECK(read(r, pass) == whole);
    for (std::size_t b : {0u, 1u, 6u, 13u})
      CHECK(read(r | reader::skip_n(b), pass) ==
            std::vector<std::vector<int>>(whole.begin() + static_cast<std::ptrdiff_t>(b),
                                          whole.end()));
    CHECK_THROWS_AS(read(zipped, pass), reader::compose_not_aligned);
  }
  CHECK(read(r, 1) != read(r, 2));
}
