// SPDX-License-Identifier: Apache-2.0
// lamina/operators/embedding/lookup_table/common.hpp - the layout of an array as a list of entries,
// which ids select.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/common/array_layout.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// The entries of an array along dimension 0: their number, stride and size.
struct entry_layout {
  std::ptrdiff_t count, step, size;

  explicit entry_layout(const operand& o) {
    const array_layout a = layout_of(o);
    count = a.extent[0];
    step = a.step[0];
    size = 1;
    for (int d = 1; d < a.rank; ++d) size *= a.extent[d];
  }
};

}}}  // namespace lamina::engine
