// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/array/common_dimension_steps.hpp - a view of an array as slices along
// one dimension, one slice per index.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/common/array_layout.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// An array, seen as `steps` slices along dimension `axis`. Slice t holds the elements with index t
/// in this dimension, and does not have the dimension itself.
struct dimension_steps {
  operand whole;
  std::ptrdiff_t steps, inner = 1;
  bool of_rows;  // whether `axis` is 0, the rows

  dimension_steps(const operator_call& c, const operand& array, int axis) : whole(array) {
    const array_layout a = layout_of(array);
    const int d = dimension_of(c, axis, a.rank);
    steps = a.extent[d];
    for (int k = d + 1; k < a.rank; ++k) inner *= a.extent[k];
    of_rows = d == 0;
  }
  /// The number of rows of each slice. `item` is a slot that holds or receives a slice.
  int rows(const operand& item) const {
    return !of_rows && item.domain != 0 ? whole.rows : item.rows;
  }
};

}}}  // namespace lamina::engine
