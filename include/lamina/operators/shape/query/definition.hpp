// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/query/definition.hpp - facts about a variable that are known only during a
// run, and ranges of numbers. These operators have no gradient.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = the dimensions of Input, rows included, int32 [rank]. Fluid: shape.
struct shape : operator_definition {
  static constexpr const char* type = "shape";
  static constexpr std::array<slot_desc, 1> inputs{{{"Input"}}};
  static constexpr auto outputs = slots_out;
};

/// Out = true if X has no elements, bool [1]. Fluid: is_empty.
struct is_empty : operator_definition {
  static constexpr const char* type = "is_empty";
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
};

/// Out = the coordinates of all non-zero elements of Condition in order, int64 [count, rank]. There
/// is one coordinate per dimension, the row first. Fluid: where_index.
struct where_index : operator_definition {
  static constexpr const char* type = "where_index";
  static constexpr std::array<slot_desc, 1> inputs{{{"Condition"}}};
  static constexpr auto outputs = slots_out;
  static constexpr int made_levels = 1;
  static constexpr auto meets_rows = row_meeting::always;  // a coordinate is the row's index
};

/// Out = Start, Start + Step, Start + 2 Step, ... as long as the value is before End. Start, End
/// and Step are single numbers; Out has the type of Start. Fluid: range.
struct range : operator_definition {
  static constexpr const char* type = "range";
  static constexpr std::array<slot_desc, 3> inputs{{{"Start"}, {"End"}, {"Step"}}};
  static constexpr auto outputs = slots_out;
};

using shape_query_operators = operator_list<shape, is_empty, where_index, range>;

}}}  // namespace lamina::operators
