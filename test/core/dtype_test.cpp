// SPDX-License-Identifier: Apache-2.0
// Element types: their numbers, sizes and names are those of Fluid.
#include <cstdint>
#include <string>
#include <type_traits>

#include <catch2/catch.hpp>

#include <lamina/core/dtype.hpp>

namespace {

template <class T>
void check_type(int number, const std::string& name) {
  constexpr lamina::dtype type = lamina::dtype_of<T>;
  CHECK(static_cast<int>(type) == number);
  CHECK(lamina::size_of(type) == static_cast<int>(sizeof(T)));
  CHECK(lamina::name_of(type) == name);
  CHECK(lamina::is_floating(type) == std::is_floating_point_v<T>);
}

}  // namespace

TEST_CASE("element types have the numbers of VarType and the size of their C++ type") {
  check_type<bool>(0, "bool");
  check_type<std::int16_t>(1, "int16");
  check_type<std::int32_t>(2, "int32");
  check_type<std::int64_t>(3, "int64");
  check_type<float>(5, "float32");
  check_type<double>(6, "float64");
  check_type<std::uint8_t>(20, "uint8");
  check_type<std::int8_t>(21, "int8");
  CHECK(lamina::size_of(lamina::dtype::float16) == 2);
  CHECK(lamina::is_floating(lamina::dtype::float16));
  CHECK(!lamina::element<char>);
  CHECK(!lamina::element<long double>);
}
