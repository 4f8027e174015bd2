// SPDX-License-Identifier: Apache-2.0
// array_view: rows that lie apart.

#include <catch2/catch.hpp>

#include <lamina/tensor/array_view.hpp>
#include <lamina/tensor/scope.hpp>
#include <lamina/tensor/tensor.hpp>

TEST_CASE("a view reads rows that lie apart") {
  const std::vector<float> memory = {1, 2, 3, 0, 4, 5, 6, 0};
  const lamina::array_view<float, 2> view(memory.data(), {2, 3}, 4);
  CHECK(view(1, 0) == 4);
  CHECK(view.flat(5) == 6);
  CHECK(view.shape(1) == 3);
  CHECK_FALSE(view.contiguous());
  CHECK(std::vector<float>(view.begin(), view.end()) == std::vector<float>{1, 2, 3, 4, 5, 6});
  static_assert(std::random_access_iterator<lamina::array_view<float, 2>::iterator>);
  CHECK(std::max_element(view.begin(), view.end()) - view.begin() == 5);
  const xt::xarray<float> copy = view;
  CHECK((copy == xt::xarray<float>{{1, 2, 3}, {4, 5, 6}}));
  CHECK((lamina::array<float>(view) == lamina::array<float>(copy)));
  CHECK((lamina::array<float>(xt::transpose(copy)) ==
         lamina::array<float>({3, 2}, {1, 4, 2, 5, 3, 6})));
  const lamina::array_view<float, 3> deep(memory.data(), {2, 2, 2}, 4);
  CHECK(deep(1, 1, 0) == 6);
  CHECK(deep.contiguous());
  CHECK(lamina::array_view<float, 0>(memory.data(), {}, 1)() == 1);
}
