// SPDX-License-Identifier: Apache-2.0
// lamina/operators/elementwise/common.hpp - properties of pointwise operators, for kernels that
// accept any element type.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>
#include <type_traits>

#include <lamina/operators/elementwise/assign/definition.hpp>
#include <lamina/operators/elementwise/binary/definition.hpp>
#include <lamina/operators/elementwise/clip/definition.hpp>
#include <lamina/operators/elementwise/compare/definition.hpp>
#include <lamina/operators/elementwise/sum/definition.hpp>
#include <lamina/operators/fill/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// Whether the kernels compute an operator on integers exactly, in integer arithmetic. For all
/// other operators, the kernels convert integers to double.
template <class Op>
inline constexpr bool is_exact =
    std::is_base_of_v<operators::comparison, Op> || std::is_base_of_v<operators::logical, Op> ||
    std::is_base_of_v<operators::elementwise, Op> || std::is_same_v<Op, operators::assign> ||
    std::is_same_v<Op, operators::cast> || std::is_same_v<Op, operators::increment> ||
    std::is_same_v<Op, operators::scale> || std::is_same_v<Op, operators::minus> ||
    std::is_same_v<Op, operators::clip> || std::is_same_v<Op, operators::fill_zeros_like> ||
    std::is_same_v<Op, operators::elementwise_mod> ||
    std::is_same_v<Op, operators::elementwise_floordiv>;
template <class Op>
inline constexpr bool is_division = std::is_same_v<Op, operators::elementwise_div> ||
                                    std::is_same_v<Op, operators::elementwise_mod> ||
                                    std::is_same_v<Op, operators::elementwise_floordiv>;

template <class Op>
constexpr bool has_axis() {
  if constexpr (Op::attributes.size() == 0)
    return false;
  else
    return std::string_view(Op::attributes[0].name) == "axis";
}

}}}  // namespace lamina::engine
