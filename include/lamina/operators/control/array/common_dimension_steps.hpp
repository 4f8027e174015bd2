// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/array/common_dimension_steps.hpp - an array split along one dimension
// into an array per index.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/common/array_layout.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// An array that is split along dimension `axis`: each index of this dimension selects an array
/// without this dimension.
struct dimension_steps {
  operand whole;
  std::ptrdiff_t steps, inner = 1;
  bool of_rows;  // whether the split dimension is the rows

  dimension_steps(const operator_call& c, const operand& array, int axis) : whole(array) {
    const array_layout a = layout_of(array);
    const int d = dimension_of(c, axis, a.rank);
    steps = a.extent[d];
    for (int k = d + 1; k < a.rank; ++k) inner *= a.extent[k];
    of_rows = d == 0;
  }
  /// The number of rows of each part. The rows have the layout of the rows of `item`.
  int rows(const operand& item) const {
    return !of_rows && item.domain != 0 ? whole.rows : item.rows;
  }
};

}}}  // namespace lamina::engine
