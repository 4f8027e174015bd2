// SPDX-License-Identifier: Apache-2.0
// lamina/operators/sequence/pool/definition.hpp - sequence_pool, which pools the rows of each
// sequence into one row.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/core/pooling_type.hpp>
#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The values of the attribute pooltype, in the order of the enumeration.
inline constexpr std::string_view pool_names[] = {"AVERAGE", "SUM", "SQRT", "MAX", "LAST", "FIRST"};

}}  // namespace lamina

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out[i] = the AVERAGE, SUM, SQRT (sum / sqrt(length)), MAX, LAST or FIRST of the rows of sequence
/// i of X's last LoD level, as pooltype says; pad_value for a sequence without rows. Out has one
/// LoD level less than X. MaxIndex, for MAX only, is the row of X from which each element of Out
/// was taken: the first row among rows with equal elements, or -1 for a sequence without rows. The
/// gradient reads only the shape and LoD of X. Fluid: sequence_pool.
struct sequence_pool : operator_definition {
  static constexpr const char* type = "sequence_pool";
  static constexpr auto inputs = slots_x;
  static constexpr std::array<slot_desc, 2> outputs{{{"Out"}, {"MaxIndex", false, true, true}}};
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"pooltype", attribute_type::string, 0, "AVERAGE"}, {"pad_value", attribute_type::real, 0}}};
  static constexpr std::uint32_t differentiable = 1;
  static constexpr std::uint32_t gradient_inputs = 1;
  static constexpr std::uint32_t gradient_outputs = 2;
};

using sequence_pool_operators = operator_list<sequence_pool>;

}}}  // namespace lamina::operators
