// SPDX-License-Identifier: Apache-2.0
// pulled_range: a source with next() and current() as a range.
#include <memory>
#include <ranges>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/reader/pulled_range.hpp>

namespace {

struct countdown {
  using value_type = std::unique_ptr<int>;
  int left;
  std::unique_ptr<int> now{};
  bool next() {
    if (left == 0) return false;
    now = std::make_unique<int>(left--);
    return true;
  }
  value_type& current() { return now; }
};

}  // namespace

TEST_CASE("a pulled_range yields what its source does, elements that can only be moved too") {
  lamina::reader::pulled_range<countdown> pass(countdown{3});
  std::vector<int> found;
  for (std::unique_ptr<int>&& n : pass) found.push_back(*std::move(n));
  CHECK(found == std::vector<int>{3, 2, 1});
  lamina::reader::pulled_range<countdown> none(countdown{0});
  CHECK(none.begin() == none.end());
  STATIC_REQUIRE(std::ranges::input_range<lamina::reader::pulled_range<countdown>>);
}
