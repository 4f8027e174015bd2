// SPDX-License-Identifier: Apache-2.0
// lamina/operators/norm/layer_norm/common.hpp - the slices of rows that are normalised together.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/common/array_layout.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// The slices that layer_norm normalises: `outer` slices in each of `rows` rows, with n elements
/// each.
struct normalised_parts {
  int rows, outer = 1, n = 1;

  normalised_parts(const operator_call& c, const operand& x) : rows(x.rows) {
    const array_layout a = layout_of(x);
    const int axis = c.integer(1);
    if (axis < 0 || axis >= a.rank)
      fail(c, {"expected begin_norm_axis from 0 to ", a.rank - 1, ", found ", axis});
    if (axis == 0) {
      if (x.rows > 1 && x.stride != x.columns)
        fail(c,
             {"expected begin_norm_axis 1 or more for rows of ", x.columns, " elements, found 0"});
      rows = 1;
      n = static_cast<int>(a.size());
      return;
    }
    for (int d = 1; d < a.rank; ++d) (d < axis ? outer : n) *= static_cast<int>(a.extent[d]);
  }
};

}}}  // namespace lamina::engine
