// SPDX-License-Identifier: Apache-2.0
// owned_array: elements live as long as their owner, and once.
#include <type_traits>
#include <utility>

#include <catch2/catch.hpp>

#include <lamina/core/arrays/owned_array.hpp>

namespace {

int living = 0;

struct counted {
  counted() { ++living; }
  counted(const counted&) = delete;
  ~counted() { --living; }
  int value = 7;
};

}  // namespace

TEST_CASE("an owned array makes its elements and ends them", "[core]") {
  {
    const lamina::owned_array<counted> three(3);
    REQUIRE(three);
    CHECK(living == 3);
    CHECK(three[2].value == 7);
    CHECK(three.get() == &three[0]);
    const lamina::owned_array<float> zeros(4);
    CHECK((zeros[0] == 0 && zeros[3] == 0));
    CHECK(!lamina::owned_array<counted>(0));
    CHECK(!lamina::owned_array<counted>());
  }
  CHECK(living == 0);
}

TEST_CASE("an owned array is moved and not copied", "[core]") {
  {
    lamina::owned_array<counted> from(2);
    counted* const first = from.get();
    lamina::owned_array<counted> to(std::move(from));
    CHECK(!from);
    CHECK(to.get() == first);
    lamina::owned_array<counted> other(5);
    CHECK(living == 7);
    other = std::move(to);
    CHECK(living == 2);
    CHECK(!to);
    CHECK(other.get() == first);
    lamina::owned_array<counted>& same = other;
    other = std::move(same);
    CHECK(other.get() == first);
    CHECK(living == 2);
  }
  CHECK(living == 0);
  STATIC_REQUIRE(!std::is_copy_constructible_v<lamina::owned_array<int>>);
}
