// SPDX-License-Identifier: Apache-2.0
// Arrays from braces, their arithmetic, and conversion from and to the containers of xtensor.
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/tensor/array.hpp>
#include <lamina/tensor/tensor.hpp>

using floats = lamina::array<float>;
using shape = std::vector<std::size_t>;
using Catch::Contains;

TEST_CASE("an array from braces has the shape of the braces") {
  CHECK(floats{{1, 2, 3}, {4, 5, 6}} == floats({2, 3}, {1, 2, 3, 4, 5, 6}));
  CHECK(floats{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}} == floats({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
  CHECK(floats{{1}, {2}}.shape() == shape{2, 1});
  CHECK(floats{{1, 2}}.shape() == shape{1, 2});
  CHECK(floats{0.5f, 2}.shape() == shape{2});
  CHECK(floats{0.5}(0) == 0.5f);
  const auto of = [](const floats& a) { return a.shape(); };
  CHECK(of({{1, 2}, {3, 4}}) == shape{2, 2});
  CHECK(of({1.f, 2.f, 3.f}) == shape{3});
  // Whole numbers in parentheses are a shape, as before.
  CHECK(floats({2, 3}).size() == 6);
  CHECK(floats({2, 3})(1, 2) == 0);
  CHECK(lamina::array<std::int64_t>{{1, 2}, {3, 4}}(1, 0) == 3);
}

TEST_CASE("rows of different length are an error that names the other spelling") {
  CHECK_THROWS_WITH((floats{{4}, {1, 2, 3, 4}}),
                    Contains("array: expected rows of one length, 1, found 4") &&
                        Contains("in parentheses: array({2, 3}, {...})"));
  CHECK_THROWS_WITH((floats{{{1, 2}, {3, 4}}, {{5, 6}}}), Contains("length, 2, found 1"));
}

TEST_CASE("arithmetic takes arrays of one shape, and numbers on both sides") {
  const floats a{{1, 2}, {3, 4}}, b{{10, 20}, {30, 40}};
  CHECK(a + b == floats{{11, 22}, {33, 44}});
  CHECK(b - a == floats{{9, 18}, {27, 36}});
  CHECK(a * b == floats{{10, 40}, {90, 160}});
  CHECK(b / a == floats{{10, 10}, {10, 10}});
  CHECK(a + 1 == floats{{2, 3}, {4, 5}});
  CHECK(1 + a == a + 1);
  CHECK(a - 1 == floats{{0, 1}, {2, 3}});
  CHECK(5 - a == floats{{4, 3}, {2, 1}});
  CHECK(a * 2 == 2.0 * a);
  CHECK(a / 2 == floats{{0.5f, 1}, {1.5f, 2}});
  CHECK(12 / a == floats{{12, 6}, {4, 3}});
  CHECK(-a == 0 - a);
  floats w = a;
  w += 0.5f * (b - w);
  CHECK(w == floats{{5.5f, 11}, {16.5f, 22}});
  w *= w;
  CHECK(w(0, 0) == 5.5f * 5.5f);
  const floats& same = w;
  w -= same;
  CHECK(w == floats({2, 2}));
  CHECK_THROWS_WITH(w += floats({4}),
                    "lamina: array: expected operands of one shape, [2, 2], "
                    "found [4]");
  CHECK_THROWS_WITH(a * floats({1, 2}), Contains("found [1, 2]"));
}

TEST_CASE("a view in arithmetic counts as an array") {
  const float memory[] = {1, 2, 0, 3, 4, 0};
  const lamina::array_view<float, 2> view(memory, {2, 2}, 3);
  CHECK(floats{{1, 1}, {1, 1}} + view == floats{{2, 3}, {4, 5}});
}

TEST_CASE("an array converts to and from xtensor's, and counts its elements") {
  lamina::array<float> a({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(a(1, 2) == 6);
  CHECK(a(0, 1) == a.flat(1));
  const xt::xarray<float> there = a;
  CHECK((there == xt::xarray<float>{{1, 2, 3}, {4, 5, 6}}));
  const lamina::array<float> back = there;
  CHECK(back == a);
  CHECK((lamina::tensor(a).as<float>() == there));
  a(1, 2) = 7;
  CHECK_FALSE(back == a);
  CHECK_FALSE(lamina::array<float>({3, 2}, {1, 2, 3, 4, 5, 6}) == back);
  CHECK(lamina::array<float>({2, 0}).size() == 0);
  CHECK(lamina::array<float>(std::vector<std::size_t>{}).size() == 1);
  CHECK_THROWS_WITH(lamina::array<float>({2, 2}, {1, 2, 3}),
                    "lamina: array: expected 4 elements for the shape [2, 2], found 3");
}
