// SPDX-License-Identifier: Apache-2.0
// tensor: type, shape, elements, conversion, messages.
#include <numeric>

#include <catch2/catch.hpp>

#include <lamina/tensor/scope.hpp>
#include <lamina/tensor/tensor.hpp>

using lamina::dtype;
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
