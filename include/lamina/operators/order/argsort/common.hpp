// SPDX-License-Identifier: Apache-2.0
// lamina/operators/order/argsort/common.hpp - the lines of an array, in each of which arg_max and
// arg_min search for one element.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/common/array_layout.hpp>
#include <lamina/engine/common/call_error.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// The lines of X along a dimension. Out has one element per line. The constructor fails if a line
/// has no elements, because then no element is the largest.
struct arg_extreme_layout {
  loop_nest<2> lines;      // the first element in X, the position in Out
  std::ptrdiff_t n, step;  // elements per line, and their stride

  arg_extreme_layout(const operator_call& c, const operand& in, const operand& out) {
    const array_layout x = layout_of(in), y = layout_of(out);
    const int axis = dimension_of(c, c.integer(0), x.rank);
    const bool keeps = c.flag(1);
    n = x.extent[axis];
    step = x.step[axis];
    for (int d = 0, o = 0; d < x.rank; ++d)
      if (d != axis)
        lines.add(x.extent[d], x.step[d], y.step[o++]);
      else if (keeps)
        ++o;
    if (n == 0 && !lines.is_empty)
      fail(c, {"expected elements along dimension ", axis, ", found none"});
  }
};

}}}  // namespace lamina::engine
