// SPDX-License-Identifier: Apache-2.0
// lamina/operators/fill/definition.hpp - operators whose results are constants: fill_constant,
// assign_value, fill_zeros_like.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>
#include <lamina/operators/pointwise.hpp>

namespace lamina { inline namespace LAMINA_ABI {

inline constexpr std::array<slot_desc, 0> no_slots{};

}}  // namespace lamina

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// A data variable, which the user feeds. The operator computes nothing; it stands for the feed
/// operator of a data layer in Fluid.
struct data : operator_definition {
  static constexpr const char* type = "data";
  static constexpr auto kind = operator_kind::source;
  static constexpr auto inputs = no_slots;
  static constexpr auto outputs = slots_out;
};

/// Out = an array of the attribute `shape` whose elements are all `value`. Fluid: fill_constant.
struct fill_constant : operator_definition {
  static constexpr const char* type = "fill_constant";
  static constexpr auto inputs = no_slots;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 4> attributes{
      {{"shape", attribute_type::long_integers},
       {"dtype", attribute_type::integer, 5},
       {"value", attribute_type::real, 0},
       {"force_cpu", attribute_type::boolean, 0}}};
  static constexpr auto host = host_rule::inputs;
};

/// Out = the attribute's values in row-major order. Fluid: assign_value.
struct assign_value : operator_definition {
  static constexpr const char* type = "assign_value";
  static constexpr auto inputs = no_slots;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 4> attributes{
      {{"shape", attribute_type::integers},
       {"dtype", attribute_type::integer, 5},
       {"fp32_values", attribute_type::reals},
       {"int32_values", attribute_type::integers}}};
};

/// Out = zeros in the shape of X. Fluid: fill_zeros_like.
struct fill_zeros_like : pointwise {
  static constexpr const char* type = "fill_zeros_like";
  static constexpr std::uint32_t differentiable = 0;
  template <class T>
  LAMINA_NUMBER_FN static T f(T) {
    return T(0);
  }
};

using fill_operators = operator_list<data, fill_constant, assign_value, fill_zeros_like>;

}}}  // namespace lamina::operators
