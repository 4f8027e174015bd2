// SPDX-License-Identifier: Apache-2.0
// Lists of dimensions that are known in part: arithmetic by symbols, and what exporters write to
// replace -1 by the dimensions of a value.
#include <limits>
#include <string>
#include <vector>

#include "io/onnx/model_bytes.hpp"
#include <catch2/catch.hpp>

#include <lamina/io/load_onnx.hpp>
#include <lamina/io/onnx/onnx_lists.hpp>

using lamina::detail::number_of_two;
using model_bytes::maker;

namespace {

constexpr std::int64_t dimension = lamina::first_symbol - 2, any = lamina::first_symbol - 3;

}  // namespace

TEST_CASE("onnx_lists: an even symbol is not negative") {
  STATIC_REQUIRE(lamina::is_symbol(dimension));
  STATIC_REQUIRE(lamina::is_not_negative(dimension));
  STATIC_REQUIRE_FALSE(lamina::is_not_negative(any));
  STATIC_REQUIRE_FALSE(lamina::is_symbol(-1));
  STATIC_REQUIRE_FALSE(lamina::is_symbol((std::numeric_limits<std::int64_t>::min)()));
  CHECK(lamina::without_symbols({3, dimension, any, -5}) ==
        std::vector<std::int64_t>{3, -1, -1, -5});
}

TEST_CASE("onnx_lists: numbers that do not depend on what is unknown") {
  CHECK(number_of_two("Add", 2, 3) == 5);
  CHECK(number_of_two("Add", dimension, 0) == dimension);
  CHECK(number_of_two("Sub", any, any) == 0);
  CHECK(number_of_two("Mul", 1, any) == any);
  CHECK(number_of_two("Div", any, 1) == any);
  CHECK(number_of_two("Max", any, any) == any);
  CHECK(number_of_two("Equal", dimension, -1) == 0);
  CHECK(number_of_two("Greater", dimension, -1) == 1);
  CHECK(number_of_two("Less", -1, dimension) == 1);
  CHECK(number_of_two("Equal", any, any) == 1);
  CHECK_FALSE(number_of_two("Equal", any, -1));
  CHECK_FALSE(number_of_two("Equal", dimension, 3));
  CHECK_FALSE(number_of_two("Mul", dimension, 2));
  CHECK_FALSE(number_of_two("Div", 3, 0));
  CHECK_FALSE(number_of_two("Div", dimension, 0));
}

TEST_CASE("onnx_lists: -1 in a list of an Expand is replaced while the file is read") {
  const lamina::tensor less({1}, std::vector<std::int64_t>{-1});
  const lamina::tensor wanted({2}, std::vector<std::int64_t>{-1, 3});
  maker m;
  m.graph.initializers.emplace_back("less", &less);
  m.graph.initializers.emplace_back("wanted", &wanted);
  // y = x expanded to where(wanted == -1, shape of x, wanted): only the sum is left.
  m.node("Shape", {"x"}, {"s"}).node("Equal", {"wanted", "less"}, {"is_less"});
  m.node("Where", {"is_less", "s", "wanted"}, {"to"}).node("Expand", {"x", "to"}, {"z"});
  m.node("Add", {"z", "x"}, {"y"});
  const lamina::inference_model read = lamina::from_onnx(m.bytes(), "net.onnx");
  std::string types;
  for (const lamina::operator_message& op : read.program.message().blocks[0].operators)
    types += op.type + " ";
  CHECK(types == "feed elementwise_add fetch ");
}
