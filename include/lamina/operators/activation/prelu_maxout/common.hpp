// SPDX-License-Identifier: Apache-2.0
// lamina/operators/activation/prelu_maxout/common.hpp - how many neighbouring elements of a row
// belong together: those of a channel, or those that a slope serves.
#pragma once

#include <lamina/engine/common/array_layout.hpp>

namespace lamina::engine {

/// Elements of a channel, dimension 1; 1 where there is none.
inline int channel_width(const operand& x) {
  const array_layout a = layout_of(x);
  const int width = a.rank > 1 && a.extent[1] > 0 ? x.columns / static_cast<int>(a.extent[1]) : 1;
  return width < 1 ? 1 : width;
}

/// How many elements of a row one element of prelu's Alpha serves, as the mode says.
inline int slope_width(const operator_call& c, const operand& x) {
  const std::string_view mode = text_of(c, 0);
  if (mode == "channel") return channel_width(x);
  if (mode == "element") return 1;
  if (mode != "all")
    fail(c, {"expected the mode 'all', 'channel' or 'element', found '", mode, "'"});
  return x.columns < 1 ? 1 : x.columns;
}

}  // namespace lamina::engine
