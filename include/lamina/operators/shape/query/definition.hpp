// SPDX-License-Identifier: Apache-2.0
// lamina/operators/shape/query/definition.hpp - shape, is_empty and where_index, which tell what is
// known of a variable only during a run, and range. These operators have no gradient.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Out = the extents of the dimensions of Input, including the rows, int32 [rank]. Fluid: shape.
struct shape : operator_definition {
  static constexpr const char* type = "shape";
  static constexpr std::array<slot_desc, 1> inputs{{{"Input"}}};
  static constexpr auto outputs = slots_out;
};

/// Out = whether X has no elements, bool [1]. Fluid: is_empty.
struct is_empty : operator_definition {
  static constexpr const char* type = "is_empty";
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
};

/// Out = the coordinates of all elements of Condition that are not 0, in order, int64 [count,
/// rank]. An element has one coordinate per dimension; the first one is its row. Fluid:
/// where_index.
struct where_index : operator_definition {
  static constexpr const char* type = "where_index";
  static constexpr std::array<slot_desc, 1> inputs{{{"Condition"}}};
  static constexpr auto outputs = slots_out;
  static constexpr int made_levels = 1;
  static constexpr auto meets_rows = row_meeting::always;  // a coordinate is the index of a row
};

/// Out = the numbers Start, Start + Step, Start + 2 Step, ... up to End, which is not included.
/// Start, End and Step are single numbers; Out has the type of Start. Fluid: range.
struct range : operator_definition {
  static constexpr const char* type = "range";
  static constexpr std::array<slot_desc, 3> inputs{{{"Start"}, {"End"}, {"Step"}}};
  static constexpr auto outputs = slots_out;
};

using shape_query_operators = operator_list<shape, is_empty, where_index, range>;

}}}  // namespace lamina::operators
