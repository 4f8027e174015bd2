// SPDX-License-Identifier: Apache-2.0
// The handles of what a record function returned have its types and its order.
#include <array>
#include <tuple>
#include <utility>

#include <lamina/layers/data.hpp>
#include <lamina/layers/sequence.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/program/returned_variables.hpp>

namespace layer = lamina::layer;

constexpr auto two = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto ids = layer::sequence<"ids", std::int64_t>(main);
  return std::pair{ids, layer::fc<2>(x)};
});
constexpr auto pair = lamina::returned_variables(two);
static_assert(std::tuple_size_v<std::remove_const_t<decltype(pair)>> == 2);
static_assert(std::get<0>(pair).id == two.desc.outputs[0]);
static_assert(std::get<1>(pair).id == two.desc.outputs[1]);
static_assert(std::is_same_v<std::tuple_element_t<1, decltype(pair)>::rows_type, lamina::batch>);
static_assert(std::is_same_v<std::tuple_element_t<0, decltype(pair)>::value_type, std::int64_t>);
static_assert(std::tuple_element_t<1, decltype(pair)>::size == 2);

constexpr auto several = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  return std::array{layer::fc<2>(x), layer::fc<2>(x), layer::fc<2>(x)};
});
static_assert(std::get<2>(lamina::returned_variables(several)).id == several.desc.outputs[2]);

constexpr auto one =
    lamina::program([](lamina::block& main) { return layer::data<"x", float, 3>(main); });
static_assert(lamina::returned_variables(one).id == one.desc.outputs[0]);
constexpr auto none =
    lamina::program([](lamina::block& main) { layer::fc<2>(layer::data<"x", float, 3>(main)); });
static_assert(std::is_same_v<decltype(lamina::returned_variables(none)), std::tuple<>>);
