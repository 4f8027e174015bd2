// SPDX-License-Identifier: Apache-2.0
// Every form of reader starts a pass.
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

#include "reader/read.hpp"
#include <catch2/catch.hpp>

#include <lamina/reader/begin_pass.hpp>
#include <lamina/reader/cursor.hpp>

namespace reader = lamina::reader;
using test::read;

namespace {

lamina::generator<int> three() {
  for (int i = 1; i <= 3; ++i) co_yield i;
}

lamina::generator<int> numbered(std::uint64_t pass) {
  for (int i = 0; i < 2; ++i) co_yield static_cast<int>(10 * pass) + i;
}

const std::vector<int>& lent() {
  static const std::vector<int> values{4, 5};
  return values;
}

}  // namespace

static_assert(reader::readable<decltype(three)&>);

static_assert(reader::readable<decltype(&numbered)>);

static_assert(reader::readable<std::vector<int>>);

static_assert(reader::readable<const std::vector<int>&>);

static_assert(reader::readable<std::function<lamina::generator<int>()>>);

static_assert(!reader::readable<lamina::generator<int>>);  // one pass is not a reader

static_assert(!reader::readable<int>);

static_assert(!reader::readable<int (*)()>);

static_assert(std::is_same_v<reader::reader_element_t<decltype(three)&>, int>);

static_assert(std::is_same_v<reader::reader_element_t<const std::vector<float>&>, float>);

TEST_CASE("every form of reader starts a pass, again and again", "[reader]") {
  for (int pass = 0; pass < 2; ++pass) {
    CHECK(read(three) == std::vector{1, 2, 3});
    CHECK(read(&three) == std::vector{1, 2, 3});
    CHECK(read([] { return std::vector{7, 8}; }) == std::vector{7, 8});
    CHECK(read(lent) == std::vector{4, 5});
    const std::vector<int> values{1, 2};
    CHECK(read(values) == std::vector{1, 2});
    CHECK(read(std::vector<int>{}).empty());
  }
}

TEST_CASE("the pass number reaches a reader that asks for it", "[reader]") {
  CHECK(read(numbered) == std::vector{0, 1});
  CHECK(read(numbered, 3) == std::vector{30, 31});
  CHECK(read([](std::uint64_t pass) { return std::vector{pass}; }, 9) ==
        std::vector<std::uint64_t>{9});
}

TEST_CASE("a pass keeps a temporary reader alive", "[reader]") {
  // The coroutine of a capturing lambda refers to the lambda; both have to outlive begin_pass.
  auto values = std::make_shared<std::vector<int>>(3, 6);
  std::weak_ptr<std::vector<int>> watch = values;
  {
    auto pass = reader::begin_pass([values = std::move(values)]() -> lamina::generator<int> {
      for (int v : *values) co_yield v;
    });
    int sum = 0;
    for (int v : pass) sum += v;
    CHECK(sum == 18);
    CHECK(!watch.expired());
  }
  CHECK(watch.expired());
}

TEST_CASE("a pass over an lvalue range neither copies nor empties it", "[reader]") {
  std::vector<std::vector<int>> values{{1, 2}, {3}};
  const int* first = values[0].data();
  auto pass = reader::begin_pass(values);
  CHECK(pass.begin()->data() == first);
  CHECK(read(values) == read(values));
  CHECK(values[0].size() == 2);
}
