// SPDX-License-Identifier: Apache-2.0
// Kernels of constant size join, split, cut and pad as an evaluator does.
#include <algorithm>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/cpu/static/static_shape_kernels.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/static_evaluator.hpp>

namespace layer = lamina::layer;

namespace {

constexpr auto boxes = lamina::program([](lamina::block& main) {
  auto a = layer::data<"a", float, 3, 5>(main);
  auto b = layer::data<"b", float, 3, 4>(main);
  auto inner = layer::concat<2>(std::tuple{a, b}, {.name = "inner"});
  layer::concat<-2>(std::tuple{a, a}, {.name = "outer"});
  auto [left, right] = layer::split<layer::sections<2, 7>>(inner);
  layer::scale(left, 2, {.name = "left"});
  layer::scale(right, 3, {.name = "right"});
  layer::slice<layer::along<1, -2, 99>, layer::along<2, 1, 4>>(a, {.name = "cut"});
  layer::slice<layer::along<1, 1, 2>>(a, {.name = "line"});
  layer::reshape<15>(a, {.name = "flat"});
  layer::transpose<0, 2, 1>(b, {.name = "turned"});
  layer::transpose<0, 3, 1, 2>(layer::reshape<3, 2, 2>(b), {.name = "turned_boxes"});
  return layer::pad<0, 0, 1, 0, 2, 3>(a, 0.5f, {.name = "padded"});
});
using program = std::remove_const_t<decltype(boxes)>;

constexpr auto bytes = lamina::program([](lamina::block& main) {
  auto a = layer::data<"a", bool, 3>(main), b = layer::data<"b", bool, 3>(main);
  return layer::concat({a, b}, {.name = "both"});
});

template <int Rows>
void compare() {
  INFO(Rows << " rows");
  std::vector<float> a(Rows * 15), b(Rows * 12);
  std::iota(a.begin(), a.end(), 1.f);
  std::iota(b.begin(), b.end(), -40.f);
  const lamina::model model{boxes};
  lamina::evaluator e{model};
  e.forward(lamina::feed<"a">(a), lamina::feed<"b">(b));
  lamina::static_evaluator<program, Rows> s;
  s.load(model);
  std::ranges::copy(a, s.template input<"a">().begin());
  std::ranges::copy(b, s.template input<"b">().begin());
  s.forward();
  const auto same = [&]<lamina::fixed_string Name>() {
    INFO(Name.view());
    const auto all = e.template activation<Name>();
    auto expected = all.begin();
    for (int r = 0; r < Rows; ++r)
      for (const float x : s.template activation<Name>(r)) CHECK(x == *expected++);
    CHECK(expected == all.end());
  };
  same.template operator()<"inner">();
  same.template operator()<"outer">();
  same.template operator()<"left">();
  same.template operator()<"right">();
  same.template operator()<"cut">();
  same.template operator()<"line">();
  same.template operator()<"padded">();
  same.template operator()<"flat">();
  same.template operator()<"turned">();
  same.template operator()<"turned_boxes">();
}

}  // namespace

TEST_CASE("a static evaluator joins, splits, cuts, pads, reshapes and transposes") {
  compare<1>();
  compare<3>();
}

TEST_CASE("a static evaluator joins elements of one byte") {
  lamina::static_evaluator<std::remove_const_t<decltype(bytes)>, 2> s;
  s.input<"a">()[4] = s.input<"b">()[2] = s.input<"b">()[3] = true;
  s.forward();
  const bool expected[2][6] = {{false, false, false, false, false, true},
                               {false, true, false, true, false, false}};
  for (int r = 0; r < 2; ++r)
    for (std::size_t j = 0; j < 6; ++j) CHECK(s.activation<"both">(r)[j] == expected[r][j]);
}
