// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include <catch2/catch.hpp>

#include <lamina/tensor/scope.hpp>
#include <lamina/tensor/tensor.hpp>

using lamina::dtype;
using lamina::scope;
using lamina::tensor;

TEST_CASE("a tensor keeps type, shape and elements") {
  const tensor t({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(t.has_value());
  CHECK(t.type() == dtype::float32);
  CHECK(t.shape() == lamina::tensor_shape{2, 3});
  CHECK(t.rank() == 2);
  CHECK(t.size() == 6);
  CHECK(t.as<float>()(1, 2) == 6);
  CHECK(static_cast<const float*>(t.data())[3] == 4);
}

TEST_CASE("zeros of every dtype have that dtype and shape") {
  for (const dtype d : {dtype::boolean, dtype::int16, dtype::int32, dtype::int64, dtype::float32,
                        dtype::float64, dtype::uint8, dtype::int8}) {
    const tensor t = tensor::zeros(d, {3, 2});
    CHECK(t.type() == d);
    CHECK(t.size() == 6);
    const xt::xarray<double> values = t.cast<double>();
    CHECK(std::accumulate(values.begin(), values.end(), 0.0) == 0);
  }
  CHECK_THROWS_WITH(tensor::zeros(dtype::float16, {1}), Catch::Contains("float16"));
}

TEST_CASE("cast truncates to integers and tests for zero to bool") {
  const tensor t({4}, std::vector<double>{-1.75, 0, 0.25, 3.5});
  const tensor i = t.cast(dtype::int64);
  CHECK(i.type() == dtype::int64);
  CHECK(i.as<std::int64_t>()(0) == -1);
  CHECK(i.as<std::int64_t>()(3) == 3);
  const xt::xarray<bool> b = t.cast<bool>();
  CHECK((b(0) && !b(1) && b(2) && b(3)));
}

TEST_CASE("a tensor names what it expected and what it found") {
  CHECK_THROWS_WITH(tensor({2, 2}, std::vector<float>{1, 2, 3}),
                    "lamina: tensor: expected 4 elements for the shape [2, 2], found 3");
  CHECK_THROWS_WITH(tensor({1}, std::vector<float>{1}).as<double>(),
                    "lamina: tensor: expected elements of float64, found float32");
  CHECK_THROWS_WITH(tensor().as<float>(), Catch::Contains("found no value"));
  CHECK_THROWS_WITH(tensor().shape(), Catch::Contains("never assigned"));
}

TEST_CASE("a scope finds variables of its parents and hides them by its own") {
  scope outer;
  outer.var("w") = tensor({1}, std::vector<float>{1});
  scope inner(outer);
  REQUIRE(inner.find("w") != nullptr);
  CHECK(inner.get("w").as<float>()(0) == 1);
  inner.var("w") = tensor({1}, std::vector<float>{2});
  CHECK(inner.get("w").as<float>()(0) == 2);
  CHECK(outer.get("w").as<float>()(0) == 1);
  CHECK(inner.drop("w"));
  CHECK_FALSE(inner.drop("w"));
  CHECK(inner.get("w").as<float>()(0) == 1);
  CHECK(inner.names().empty());
  CHECK(outer.names() == std::vector<std::string>{"w"});
}

TEST_CASE("a scope names the variable it has not") {
  scope s;
  CHECK(s.find("x") == nullptr);
  CHECK_THROWS_WITH(s.get("x"), Catch::Contains("'x'") && Catch::Contains("no such variable"));
  s.var("x");
  CHECK_THROWS_WITH(s.get("x"), Catch::Contains("'x'") && Catch::Contains("never assigned"));
}

TEST_CASE("references into a scope survive new variables") {
  scope s;
  tensor& first = s.var("a");
  for (int i = 0; i < 100; ++i) s.var("b" + std::to_string(i));
  first = tensor({1}, std::vector<float>{3});
  CHECK(s.get("a").as<float>()(0) == 3);
}

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
