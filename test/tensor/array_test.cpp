// SPDX-License-Identifier: Apache-2.0
// array: conversion from and to the containers of xtensor.

#include <catch2/catch.hpp>

#include <lamina/tensor/array.hpp>
#include <lamina/tensor/scope.hpp>
#include <lamina/tensor/tensor.hpp>

using lamina::tensor;

TEST_CASE("an array converts to and from xtensor's, and counts its elements") {
  lamina::array<float> a({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(a(1, 2) == 6);
  CHECK(a(0, 1) == a.flat(1));
  const xt::xarray<float> there = a;
  CHECK((there == xt::xarray<float>{{1, 2, 3}, {4, 5, 6}}));
  const lamina::array<float> back = there;
  CHECK(back == a);
  CHECK((tensor(a).as<float>() == there));
  a(1, 2) = 7;
  CHECK_FALSE(back == a);
  CHECK_FALSE(lamina::array<float>({3, 2}, {1, 2, 3, 4, 5, 6}) == back);
  CHECK(lamina::array<float>({2, 0}).size() == 0);
  CHECK(lamina::array<float>(std::vector<std::size_t>{}).size() == 1);
  CHECK_THROWS_WITH(lamina::array<float>({2, 2}, {1, 2, 3}),
                    "lamina: array: expected 4 elements for the shape [2, 2], found 3");
}
