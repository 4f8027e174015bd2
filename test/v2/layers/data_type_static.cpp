// SPDX-License-Identifier: Apache-2.0
// A data layer of v2 is the variable that its type says.
#include <cstdint>
#include <type_traits>

#include <lamina/program/program.hpp>
#include <lamina/v2/layers/data_type.hpp>
#include <lamina/v2/layers/layer.hpp>

namespace layer = lamina::v2::layer;
namespace data_type = lamina::v2::data_type;
using lamina::variable;

namespace {

constexpr auto inputs = lamina::program([](lamina::block& main) {
  using lamina::batch;
  auto dense = layer::data<"dense", data_type::dense_vector<3>>(main);
  auto value = layer::data<"value", data_type::integer_value<9>>(main);
  auto vectors = layer::data<"vectors", data_type::dense_vector_sequence<2>>(main);
  auto words = layer::data<"words", data_type::integer_value_sequence<9>>(main);
  auto text = layer::data<"text", data_type::integer_value_sub_sequence<9>>(main);
  auto nested = layer::data<"nested", data_type::dense_vector_sub_sequence<4>>(main);
  static_assert(std::is_same_v<decltype(dense), variable<float, batch, 3>>);
  static_assert(std::is_same_v<decltype(value), variable<std::int64_t, batch, 1>>);
  static_assert(std::is_same_v<decltype(vectors), variable<float, lamina::tokens<"vectors">, 2>>);
  static_assert(
      std::is_same_v<decltype(words), variable<std::int64_t, lamina::tokens<"words">, 1>>);
  static_assert(
      std::is_same_v<decltype(text), variable<std::int64_t, lamina::nested_tokens<"text">, 1>>);
  static_assert(
      std::is_same_v<decltype(nested), variable<float, lamina::nested_tokens<"nested">, 4>>);
});
static_assert(inputs.view().count.data == 6);
static_assert(data_type::integer_value_sequence<9>::range == 9);

}  // namespace
