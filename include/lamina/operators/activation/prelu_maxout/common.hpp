// SPDX-License-Identifier: Apache-2.0
// lamina/operators/activation/prelu_maxout/common.hpp - how many consecutive elements of a row
// belong to one channel, or share one slope of prelu.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/common/array_layout.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// Returns the number of elements of a channel (dimension 1) in a row; 1 if x has no dimension 1.
inline int channel_width(const operand& x) {
  const array_layout a = layout_of(x);
  const int width = a.rank > 1 && a.extent[1] > 0 ? x.columns / static_cast<int>(a.extent[1]) : 1;
  return width < 1 ? 1 : width;
}

/// Returns how many consecutive elements of a row share one element of prelu's Alpha: all, those of
/// a channel, or one, depending on the mode.
inline int slope_width(const operator_call& c, const operand& x) {
  const std::string_view mode = text_of(c, 0);
  if (mode == "channel") return channel_width(x);
  if (mode == "element") return 1;
  if (mode != "all")
    fail(c, {"expected the mode 'all', 'channel' or 'element', found '", mode, "'"});
  return x.columns < 1 ? 1 : x.columns;
}

}}}  // namespace lamina::engine
