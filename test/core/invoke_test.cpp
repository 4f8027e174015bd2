// SPDX-License-Identifier: Apache-2.0
// invoke: functions, pointers to members, objects and pointers.
#include <memory>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include <lamina/core/invoke.hpp>

namespace {

struct point {
  int x = 3;
  int plus(int more) const { return x + more; }
};

}  // namespace

TEST_CASE("invoke calls functions and members of objects, references and pointers") {
  const point p;
  const auto owned = std::make_unique<point>(point{5});
  CHECK(lamina::invoke([](int a, int b) { return a - b; }, 7, 2) == 5);
  CHECK(lamina::invoke(&point::x, p) == 3);
  CHECK(lamina::invoke(&point::x, &p) == 3);
  CHECK(lamina::invoke(&point::plus, p, 4) == 7);
  CHECK(lamina::invoke(&point::plus, owned, 4) == 9);
}

TEST_CASE("invoke hands references and rvalues on") {
  point p;
  lamina::invoke(&point::x, p) = 8;
  CHECK(p.x == 8);
  std::string text = "a text that is longer than the small buffer of a string";
  const std::string moved =
      lamina::invoke([](std::string&& s) { return std::move(s); }, std::move(text));
  CHECK(moved.size() == 55);
}
